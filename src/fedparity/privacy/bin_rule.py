r"""How many bins a noisy histogram should have, from numbers that are public.

More bins follow the scores more closely, and each of them is noisier. The rule was fitted once and
then frozen; :doc:`/decisions/0020-differential-privacy` says how it did on data that it had not seen.
"""

from __future__ import annotations

import math

__all__ = [
    "FEWEST_BINS",
    "MOST_BINS",
    "SECURE_BINS",
    "UNPLANNED_BINS",
    "bins_of_points",
    "planned_bins",
]

FEWEST_BINS, MOST_BINS = 16, 256
UNPLANNED_BINS = 32
"""Where nobody says how many records there will be."""
SECURE_BINS = 256
"""Where no noise is added: only the length of the message grows."""


def planned_bins(records: int, epsilon: float, doses: float) -> int:
    r"""Return the power of two nearest to :math:`\frac12\sqrt{n \varepsilon / \sqrt d}`, from 16 to 256.

    Parameters
    ----------
    records : int
        The public planning size n: records of the smallest group in all silos together.
    epsilon : float
    doses : float
        The d of the rule: how many doses of noise the sum over all silos holds, their number if
        each adds a full one.

    Examples
    --------
    >>> planned_bins(2_500, 1.0, 5), planned_bins(10_000, 1.0, 5), planned_bins(10**9, 1.0, 5)
    (16, 32, 256)
    """
    wanted = 0.5 * math.sqrt(records * epsilon / math.sqrt(doses))
    return 1 << round(math.log2(min(max(wanted, FEWEST_BINS), MOST_BINS)))


def bins_of_points(points: int, bins: int) -> int:
    """Return how many bins scores that can only be so many ``points`` should have.

    One for each point, as long as these are at most twice the ``bins`` of a continuous score: a point
    more costs little noise, and a bin that is a point hides nothing. Runs of two or three points
    would hide much where scores are bunched at some of them. Beyond that, the bins hold runs.

    Examples
    --------
    >>> bins_of_points(10, 16), bins_of_points(21, 16), bins_of_points(101, 16)
    (10, 21, 16)
    """
    return points if points <= min(2 * bins, MOST_BINS) else bins
