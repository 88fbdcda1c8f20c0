"""Loops that numba compiles: imported only where it is installed and pays.

Every loop does what its namesake in ``passes`` and ``exact_sums`` does, record by record.
Blocks of places stay in the first level of the cache.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

__all__ = [
    "add_between",
    "add_products",
    "add_scores",
    "add_squares",
    "add_weighted_squares",
    "compile_loop",
    "count",
    "count_between",
    "count_weighted",
    "gather",
    "gather_weighted",
    "sort",
]

BLOCK = 1 << 12
_SKIP, _KEEP, _CANDIDATE, _SUM, _WINDOWED = 0, 1, 2, 3, 4
_FIRST_WINDOW = np.int32(-(1 << 24))
_IMPLICIT = np.int64(1 << 52)
_MANTISSA = np.int64((1 << 52) - 1)
_LIMB = np.uint64(0xFFFFFFFF)
_REST = np.uint64((1 << 48) - 1)
_SIGN = np.uint64(1 << 63)
_DIGIT, _DIGITS = 11, 6
"""Bits of a digit, and digits of a key of 64 bits."""
_LINE = 8
"""Scores in a line of memory."""
_TO_READ, _SECOND_LEVEL, _DATA = 0, 2, 1
"""Of LLVM's prefetch: what for, into which level of the cache, and of what."""
_LOW_27 = np.int64((1 << 27) - 1)


def compile_loop(function):
    """Compile a loop, and keep the machine code on disk where there is a place for it."""
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written
        return njit(**options)(function)


@compile_loop
def _locate_linear(scores, codes, low, scale, top, width, least, most, last, places):
    for i in range(scores.size):
        score = scores[i]
        place = (score - low) * scale + 1.0
        place = max(0.0, place)
        place = min(top, place)
        found = np.uint32(np.int32(place)) + np.uint32(codes[i]) * width
        places[i] = found if (score >= least) & (score <= most) else last


@compile_loop
def _locate_keys(scores, bits, codes, first, shifts, width, least, most, last, places):
    for i in range(scores.size):
        score = scores[i]
        if (score >= least) & (score <= most):
            raw = np.uint64(0) if score == 0.0 else np.uint64(bits[i])
            key = ~raw if raw & _SIGN else raw | _SIGN
            cell = key >> np.uint64(48)
            part = (key & _REST) >> np.uint64(shifts[cell])
            places[i] = first[cell] + np.uint32(part) + np.uint32(codes[i]) * width
        else:
            places[i] = last


@compile_loop
def _locate(chosen, bounds, scores, bits, codes, last, places):
    linear, low, scale, top, first, shifts, width = chosen
    least, most = bounds
    if linear:
        _locate_linear(scores, codes, low, scale, top, width, least, most, last, places)
    else:
        _locate_keys(scores, bits, codes, first, shifts, width, least, most, last, places)


@compile_loop
def count(chosen, bounds, scores, bits, codes, counts, places):
    """Count records by place; the last place is for those outside the bounds."""
    last = np.uint32(counts.size - 1)
    for start in range(0, scores.size, BLOCK):
        block = scores[start : start + BLOCK]
        own = places[: block.size]
        _locate(
            chosen,
            bounds,
            block,
            bits[start : start + BLOCK],
            codes[start : start + BLOCK],
            last,
            own,
        )
        for i in range(own.size):
            counts[own[i]] += 1


@compile_loop
def count_weighted(chosen, bounds, scores, bits, codes, weights, counts, masses, places):
    """Count records, and sum their weights, by place; those without weight go last."""
    last = np.uint32(counts.size - 1)
    for start in range(0, scores.size, BLOCK):
        block = scores[start : start + BLOCK]
        own = places[: block.size]
        _locate(
            chosen,
            bounds,
            block,
            bits[start : start + BLOCK],
            codes[start : start + BLOCK],
            last,
            own,
        )
        for i in range(own.size):
            weight = weights[start + i]
            if weight > 0.0 and own[i] != last:
                counts[own[i]] += 1
                masses[own[i]] += weight
            else:
                counts[last] += 1


@compile_loop
def _mantissa(bits):
    """The signed mantissa of a float, and the power of two above 2^-1074 that multiplies it."""
    exponent = (bits >> np.int64(52)) & np.int64(0x7FF)
    mantissa = bits & _MANTISSA
    if exponent > 0:
        mantissa |= _IMPLICIT
    else:
        exponent = np.int64(1)
    return (-mantissa if bits < 0 else mantissa), exponent - np.int64(1)


@compile_loop
def _add_shifted(limbs, whole, place):
    """Add ``whole * 2**place`` to the limbs of one sum."""
    limb = place >> np.int64(5)
    shift = np.uint64(place & np.int64(31))
    size = np.uint64(abs(whole))
    low = np.int64((size << shift) & _LIMB)
    rest = size >> (np.uint64(32) - shift)
    middle, high = np.int64(rest & _LIMB), np.int64(rest >> np.uint64(32))
    if whole < 0:
        low, middle, high = -low, -middle, -high
    limbs[limb] += low
    limbs[limb + 1] += middle
    limbs[limb + 2] += high


@compile_loop
def _add_value(limbs, bits):
    mantissa, place = _mantissa(bits)
    _add_shifted(limbs, mantissa, place)


@compile_loop
def _add_product(limbs, first_bits, second_bits):
    a, a_place = _mantissa(first_bits)
    b, b_place = _mantissa(second_bits)
    place = a_place + b_place
    a_low, a_high = a & _LOW_27, a >> np.int64(27)
    b_low, b_high = b & _LOW_27, b >> np.int64(27)
    _add_shifted(limbs, a_low * b_low, place)
    _add_shifted(limbs, a_high * b_low + a_low * b_high, place + np.int64(27))
    _add_shifted(limbs, a_high * b_high, place + np.int64(54))


@intrinsic
def _wide_product(typing_context, first, second):  # noqa: ARG001 -- numba's signature
    """The product of two whole numbers of 64 bits: its lower 64 bits, and the others."""

    def emit(context, builder, signature, arguments):
        word, wide = ir.IntType(64), ir.IntType(128)
        product = builder.mul(*(builder.zext(factor, wide) for factor in arguments))
        parts = product, builder.lshr(product, wide(64))
        return context.make_tuple(
            builder, signature.return_type, [builder.trunc(part, word) for part in parts]
        )

    return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), emit


@compile_loop
def _add_words(words, low, middle, high):
    """Add a number of 192 bits to another one."""
    total = words[0] + low
    carry = np.uint64(total < low)
    words[0] = total
    total = words[1] + middle
    high += np.uint64(total < middle)
    total += carry
    high += np.uint64(total < carry)
    words[1] = total
    words[2] += high


@compile_loop
def add_squares(bits, codes, words):
    """Add the squares of scores to the words of their groups, by power of two."""
    for i in range(bits.size):
        mantissa, place = _mantissa(bits[i])
        size = np.uint64(abs(mantissa))
        low, high = _wide_product(size, size)
        _add_words(words[codes[i], 2 * place], low, high, np.uint64(0))


@compile_loop
def add_weighted_squares(bits, codes, weight_bits, words):
    """Add weight times square to the words of their groups, by power of two."""
    for i in range(bits.size):
        mantissa, place = _mantissa(bits[i])
        weight, weight_place = _mantissa(weight_bits[i])
        size = np.uint64(abs(mantissa))
        low, high = _wide_product(size, size)
        low, carried = _wide_product(low, np.uint64(weight))
        middle, high = _wide_product(high, np.uint64(weight))
        middle += carried
        high += np.uint64(middle < carried)
        _add_words(words[codes[i], 2 * place + weight_place], low, middle, high)


@compile_loop
def add_scores(bits, codes, limbs):
    """Add scores to the sums of their groups."""
    for i in range(bits.size):
        _add_value(limbs[codes[i]], bits[i])


@compile_loop
def add_products(bits, codes, weight_bits, limbs):
    """Add weight times score to the sums of their groups."""
    for i in range(bits.size):
        _add_product(limbs[codes[i]], bits[i], weight_bits[i])


@compile_loop
def _place_between(score, bounds):
    """How many of the bounds are not above a score."""
    first, last = 0, bounds.size
    while first < last:
        middle = (first + last) >> 1
        if score >= bounds[middle]:
            first = middle + 1
        else:
            last = middle
    return first


@compile_loop
def count_between(scores, codes, bounds, counts):
    """Count records by group and place between bounds."""
    for i in range(scores.size):
        counts[codes[i], _place_between(scores[i], bounds)] += 1


@compile_loop
def add_between(scores, codes, weight_bits, bounds, counts, limbs):
    """Count records, and add their weights to sums, by group and place between bounds."""
    for i in range(scores.size):
        place = _place_between(scores[i], bounds)
        counts[codes[i], place] += np.int64(weight_bits[i] != 0)
        _add_value(limbs[np.int64(codes[i]) * counts.shape[1] + place], weight_bits[i])


@intrinsic
def _fetch(typing_context, column, position):  # noqa: ARG001 -- numba's signature
    """Prefetch the cache line of an element."""

    def emit(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(prefetch, [place, number(_TO_READ), number(_SECOND_LEVEL), number(_DATA)])
        return context.get_dummy_value()

    return types.void(column, position), emit


@compile_loop
def _is_looked_at(looked_at, place):
    """One bit per place: all of them stay in the first level of the cache."""
    return (looked_at[place >> np.uint32(5)] >> (place & np.uint32(31))) & np.uint32(1)


@compile_loop
def _hits(looked_at, places, found, ahead):
    """Write down which places are looked at; return how many.

    Meanwhile the scores of the next block are fetched: looking at places needs no memory.
    """
    hits = first = 0
    while first + _LINE <= min(places.size, ahead.size):
        _fetch(ahead, first)
        for i in range(first, first + _LINE):
            if _is_looked_at(looked_at, places[i]):
                found[hits] = i
                hits += 1
        first += _LINE
    for i in range(first, places.size):
        if _is_looked_at(looked_at, places[i]):
            found[hits] = i
            hits += 1
    return hits


@compile_loop
def gather(
    chosen,
    bounds,
    scores,
    bits,
    codes,
    looked_at,
    flags,
    slots,
    candidates,
    equal,
    windows,
    limbs,
    scratch,
    out,
):
    """Keep, count or sum records as the flag of their place says; return how many were kept."""
    places, found = scratch
    low, high, sides = windows
    kept_scores, kept_codes = out
    kept, last = 0, np.uint32(flags.size - 1)
    for start in range(0, scores.size, BLOCK):
        block = scores[start : start + BLOCK]
        own = places[: block.size]
        block_bits, block_codes = bits[start : start + BLOCK], codes[start : start + BLOCK]
        _locate(chosen, bounds, block, block_bits, block_codes, last, own)
        ahead = scores[start + BLOCK : start + 2 * BLOCK]
        for hit in range(_hits(looked_at, own, found, ahead)):
            i = found[hit]
            flag, slot, score = flags[own[i]], slots[own[i]], block[i]
            if flag == _SUM:
                if limbs.shape[0]:
                    _add_value(limbs[slot], block_bits[i])
                continue
            if flag == _CANDIDATE and score == candidates[-3 - slot]:
                equal[-3 - slot] += 1
                continue
            kept_scores[kept] = score
            kept_codes[kept] = block_codes[i]
            if flag == _WINDOWED:  # no branch: nobody can predict on which side a score falls
                position = _FIRST_WINDOW - slot
                side = np.int64(score >= low[position]) + np.int64(score > high[position])
                sides[side, position] += 1
                kept += np.int64(side == 1)
            else:
                kept += 1
    return kept


@compile_loop
def gather_weighted(
    chosen,
    bounds,
    scores,
    bits,
    codes,
    weights,
    weight_bits,
    looked_at,
    flags,
    slots,
    candidates,
    equal,
    limbs,
    product_limbs,
    scratch,
    out,
):
    """Keep, count or sum records with weights; return how many were kept."""
    places, found = scratch
    kept_scores, kept_codes, kept_weights = out
    kept, last = 0, np.uint32(flags.size - 1)
    candidate_row = limbs.shape[0] - candidates.size
    for start in range(0, scores.size, BLOCK):
        block = scores[start : start + BLOCK]
        own = places[: block.size]
        block_bits, block_codes = bits[start : start + BLOCK], codes[start : start + BLOCK]
        _locate(chosen, bounds, block, block_bits, block_codes, last, own)
        ahead = scores[start + BLOCK : start + 2 * BLOCK]
        for hit in range(_hits(looked_at, own, found, ahead)):
            i = found[hit]
            flag, slot, weight = flags[own[i]], slots[own[i]], weights[start + i]
            if weight == 0.0:
                continue
            if flag == _SUM:
                if limbs.shape[0]:
                    _add_value(limbs[slot], weight_bits[start + i])
                if product_limbs.shape[0]:
                    _add_product(product_limbs[slot], block_bits[i], weight_bits[start + i])
                continue
            if flag == _CANDIDATE and block[i] == candidates[-3 - slot]:
                equal[-3 - slot] += 1
                _add_value(limbs[candidate_row - 3 - slot], weight_bits[start + i])
                continue
            kept_scores[kept] = block[i]
            kept_codes[kept] = block_codes[i]
            kept_weights[kept] = weight
            kept += 1
    return kept


@compile_loop
def _flip(bits):
    """A key that orders as the float of these bits does."""
    return ~bits if bits & _SIGN else bits | _SIGN


@compile_loop
def sort(bits, spare):
    """Sort floats, given by their bits, digit by digit from the lowest; ``spare`` is as large."""
    size = 1 << _DIGIT
    low = np.uint64(size - 1)
    starts = np.zeros((_DIGITS, size), dtype=np.int64)
    for i in range(bits.size):
        key = _flip(bits[i])
        bits[i] = key
        for digit in range(_DIGITS):
            starts[digit, (key >> np.uint64(_DIGIT * digit)) & low] += 1
    for digit in range(_DIGITS):
        own = starts[digit]
        if own.max() == bits.size:  # all have the same digit here
            continue
        total = 0
        for value in range(size):
            total, own[value] = total + own[value], total
        shift = np.uint64(_DIGIT * digit)
        for i in range(bits.size):
            value = (bits[i] >> shift) & low
            spare[own[value]] = bits[i]
            own[value] += 1
        bits[:] = spare
    for i in range(bits.size):
        key = bits[i]
        bits[i] = key ^ _SIGN if key & _SIGN else ~key
