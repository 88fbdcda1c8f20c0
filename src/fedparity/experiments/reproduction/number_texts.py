"""Numbers as tables write them."""

from __future__ import annotations

import math

__all__ = ["fixed", "mean_and_sd", "percent", "significant"]

_MOST_DECIMALS = 7


def fixed(value: float, decimals: int) -> str:
    """Return a number with so many decimals; a dash where there is none.

    Examples
    --------
    >>> fixed(0.76094, 4), fixed(3696.0, 0), fixed(float("nan"), 4), fixed(-0.00001, 3)
    ('0.7609', '3696', '–', '0.000')
    """
    if not math.isfinite(value):
        return "–"
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def mean_and_sd(mean: float, sd: float, decimals: int) -> str:
    """Return mean ± standard deviation; the mean alone where draws do not differ.

    There are more decimals than asked for if the deviation would show as zero.

    Examples
    --------
    >>> mean_and_sd(0.42384, 0.0703, 4), mean_and_sd(3696.0, 0.0, 0), mean_and_sd(2e-5, 6e-6, 4)
    ('0.4238 ± 0.0703', '3696', '0.00002 ± 0.00001')
    """
    if not sd > 0:
        return fixed(mean, decimals)
    while round(sd, decimals) == 0 and decimals < _MOST_DECIMALS:
        decimals += 1
    return f"{fixed(mean, decimals)} ± {fixed(sd, decimals)}"


def percent(share: float) -> str:
    """Return a share in whole percent.

    Examples
    --------
    >>> percent(0.573), percent(-0.0001)
    ('57 %', '0 %')
    """
    return f"{fixed(100 * share, 0)} %"


def significant(value: float) -> str:
    """Return a number with three digits that count.

    Examples
    --------
    >>> significant(-2.0514), significant(0.0008671)
    ('−2.05', '0.000867')
    """
    return f"{value:.3g}".replace("-", "−")
