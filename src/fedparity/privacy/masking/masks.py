r"""Vectors hidden by masks that cancel in their sum (Bonawitz et al. 2017, section 4).

Silo i adds the stream of its own seed :math:`b_i` and, for every other silo j, the stream of a seed
that only i and j know, with the sign + for one and - for the other:

.. math:: y_i = x_i + P(b_i) + \sum_{j > i} P(s_{ij}) - \sum_{j < i} P(s_{ij}) \pmod{2^{64}}.

One unknown stream makes :math:`y_i` uniform, whatever :math:`x_i` is. In the sum over all silos the
shared streams cancel. Where some dropped out after they agreed on seeds, theirs are left in the sum
and are taken out with their rebuilt keys; those of :math:`b_i` with the rebuilt seeds. Of one silo
either the key or the seed is ever rebuilt: both together would show :math:`x_i`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from fedparity.privacy.masking.streams import Words, stream

__all__ = ["masked", "pair_masks", "total"]


def masked(
    vector: npt.NDArray[np.int64], silo: str, own: bytes, pairs: Mapping[str, bytes]
) -> Words:
    """Return a silo's vector with all its masks.

    Parameters
    ----------
    vector : array of int64
    silo : str
    own : bytes
        The seed of its own stream.
    pairs : mapping of str to bytes
        The seed agreed on with each other silo.

    Examples
    --------
    >>> x, seed = np.array([1, -2]), bytes(32)
    >>> sent = [masked(x, "a", seed, {"b": seed}), masked(x, "b", seed, {"a": seed})]
    >>> total(sent, own=[seed, seed]).tolist()
    [2, -4]
    """
    words = vector.astype(np.int64).view(np.uint64) + stream(own, vector.size)
    return words + pair_masks(silo, pairs, vector.size)


def pair_masks(silo: str, pairs: Mapping[str, bytes], length: int) -> Words:
    """Return the sum of the streams that a silo shares with others, each with its sign."""
    words = np.zeros(length, dtype=np.uint64)
    for other, seed in pairs.items():
        if silo < other:
            words += stream(seed, length)
        else:
            words -= stream(seed, length)
    return words


def total(
    vectors: Iterable[Words], *, own: Iterable[bytes], left_over: Iterable[Words] = ()
) -> npt.NDArray[np.int64]:
    """Return the sum of masked vectors without their masks, as signed numbers.

    Parameters
    ----------
    vectors : iterable of masked vectors
    own : iterable of bytes
        The seeds of their own streams.
    left_over : iterable of words
        For each silo that dropped out, the :func:`pair_masks` that it *would* have added: what
        the others added is its negative.
    """
    words: Words = np.sum(list(vectors), axis=0, dtype=np.uint64)
    for seed in own:
        words -= stream(seed, words.size)
    for mask in left_over:
        words += mask
    return words.view(np.int64)
