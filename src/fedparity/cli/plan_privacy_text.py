"""The answer of ``fedparity plan privacy`` in plain words, in 80 columns."""

from __future__ import annotations

from fedparity.cli.fitting import counted, wrapped
from fedparity.cli.plan_size_text import plain
from fedparity.diagnostics.planning.privacy import PrivacyPlan, PrivacyRow

__all__ = ["privacy_text"]

_WEAK = 2.0
_COLUMNS = "{:>9}{:>6}{:>13}{:>14}{:>13}{:>18}"
_ENDS = ("interval ±", "with sampling ±")


def privacy_text(answer: PrivacyPlan, width: int = 80) -> str:
    """Return the table of errors, and what the one asked about means."""
    often = f"{plain(100 * answer.confidence)} %"
    lines = [
        *wrapped(_settings(answer), width),
        *wrapped(
            f"Scores from {answer.score_range[0]:g} to {answer.score_range[1]:g}, shape "
            f"{answer.shape}: {answer.meaning}; G₂ = {plain(answer.disparity)}.",
            width,
        ),
        "",
        _COLUMNS.format("epsilon", "bins", "mean error", f"{often} within", *_ENDS),
        *(_line(row, answer) for row in answer.by_epsilon),
        _COLUMNS.format("no noise", "", "-", "-", "-", _share(answer.sampling, answer)),
        "",
        *wrapped(_verdict(answer), width),
    ]
    return "\n".join(lines)


def _settings(answer: PrivacyPlan) -> str:
    where = "in each silo" if answer.mode == "dp" else "inside a secure sum"
    doses = f"{plain(answer.doses)} {'dose' if answer.doses == 1 else 'doses'} in the sum"
    return (
        f"Noise {where}, {doses}: {counted(answer.silos, 'silo')}, {answer.groups} groups of "
        f"{counted(answer.records, 'record')} each. Errors are shares of G₂."
    )


def _line(row: PrivacyRow, answer: PrivacyPlan) -> str:
    epsilon = f"{'*' if row.epsilon == answer.epsilon else ' '}{plain(row.epsilon):>8}"
    errors = (row.error, row.large_error, row.interval, row.population)
    return _COLUMNS.format(epsilon, row.bins, *(_share(error, answer) for error in errors))


def _verdict(answer: PrivacyPlan) -> str:
    row = answer.answer
    words = (
        f"At epsilon = {plain(answer.epsilon)} expect G₂ within {plain(row.error)} of that of the "
        f"raw data on average, and an interval of ±{plain(row.interval)} for it."
    )
    if row.interval > answer.disparity:
        words += " That is more than the disparity itself: ask for a larger epsilon, or for more records."
    elif row.interval < answer.sampling:
        words += " Sampling leaves more open than the noise does."
    if answer.epsilon > _WEAK:
        words += f" An epsilon above {plain(_WEAK)} protects single records weakly."
    return words


def _share(error: float, answer: PrivacyPlan) -> str:
    return f"{plain(100 * error / answer.disparity)} %"
