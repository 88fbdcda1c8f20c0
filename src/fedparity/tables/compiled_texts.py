"""Loops over texts that numba compiles: imported only where its kernel is loaded already.

Every text is compared whole, word by word of 8 bytes, with each of the known ones.
"""

from __future__ import annotations

import numpy as np

from fedparity.sketches.compiled import compile_loop

__all__ = ["code_texts", "code_views"]


@compile_loop
def _word(raw, start):
    """The 8 bytes from ``start`` on, or those there are, one at a time."""
    word = np.uint64(0)
    for i in range(min(8, raw.size - start)):
        word |= np.uint64(raw[start + i]) << np.uint64(8 * i)
    return word


@compile_loop
def code_texts(ends, raw, words, lengths, masks, inner, tails, codes):
    """Write the codes of texts that lie one after the other; return how many are unknown.

    ``words`` are the 8 bytes that begin at each byte of ``raw``. A known text is its length, its
    first word under a mask, its inner words, and its last 8 bytes if it has as many.
    """
    unknown = 0
    last = words.size - 1
    for i in range(codes.size):
        start = ends[i]
        length = ends[i + 1] - start
        first = words[start] if start <= last else _word(raw, start)
        code = 0
        for j in range(lengths.size):
            same = (length == lengths[j]) & ((first & masks[j]) == inner[j, 0])
            if same and length > 8:
                same &= words[start + length - 8] == tails[j]
                for k in range(1, (length - 1) // 8):
                    same &= words[start + 8 * k] == inner[j, k]
            code |= (j + 1) * same
        codes[i] = code
        unknown += code == 0
    return unknown


@compile_loop
def code_views(views, known, codes):
    """Write the codes of texts of up to 12 bytes, which are views; return how many are unknown."""
    unknown = 0
    for i in range(codes.size):
        code = 0
        for j in range(known.shape[0]):
            same = (views[i, 0] == known[j, 0]) & (views[i, 1] == known[j, 1])
            code |= (j + 1) * same
        codes[i] = code
        unknown += code == 0
    return unknown
