"""What each silo released, and which guarantee the messages state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fedparity.auditing.parts import PlanSummary
from fedparity.auditing.result import AuditResult
from fedparity.report.numbers import amount, counted, number, percent, stated
from fedparity.report.sentences.naming import has_noise, is_summed, short

__all__ = ["explain_privacy"]

_MODES = {
    "none": "No noise was added",
    "dp": "Noise was added in each silo (differential privacy)",
    "secure": "Only sums over silos were seen (secure aggregation)",
    "secure+dp": "Only sums over silos were seen, and noise was added (secure aggregation and "
    "differential privacy)",
}
_SAID = ("mode", "epsilon", "minimum_cell", "records_per_level", "rounding", "seen", "limits")


def explain_privacy(result: AuditResult) -> str:
    """Return what left the silos and under which rules, as the messages state them."""
    terms = result.guarantee
    sentences = (
        _released(result),
        _mode(terms),
        _rules(result),
        _limits(result),
        _further(terms),
    )
    return " ".join(filter(None, sentences))


def _released(result: AuditResult) -> str:
    plan, groups = result.plan, len(result.groups)
    if plan.sketch == "histogram" or is_summed(result):
        return _histograms(result)
    held, each = _held(result)
    above = len(plan.thresholds)
    if above:
        held += f", and its records at or above {counted(above, 'threshold')}"
    most = groups * (1 + each + above)
    return (
        f"Of each silo the audit has, for each of {groups} groups, a count and {held}: at most "
        f"{most:,} numbers, and no record."
    )


def _held(result: AuditResult) -> tuple[str, int]:
    """What a cell holds beside its count, and at most how many numbers that is."""
    plan = result.plan
    if plan.sketch == "counts":
        return "the records at each score of a public grid, small counts joined", 2 * points_of(
            plan
        )
    if plan.sketch == "mean":
        means = f"up to {counted(plan.levels, 'bin mean')} of its scores and a mean square"
        return means, plan.levels + 1
    return f"up to {counted(plan.levels, 'quantile')} of its scores", plan.levels


def points_of(plan: PlanSummary) -> int:
    """Return how many scores a public grid has."""
    lowest, highest = plan.score_range
    return 1 + round((highest - lowest) / (plan.score_step or highest - lowest))


def _histograms(result: AuditResult) -> str:
    noisy = "noisy " if has_noise(result) else ""
    whose = "the silos together" if is_summed(result) else "each silo"
    bins = result.guarantee.get("bins", result.plan.levels)
    return (
        f"Of {whose} the audit has, for each of {len(result.groups)} groups, {noisy}numbers of "
        f"records in {counted(int(_amount(bins)), 'bin')} of public edges, and no record."
    )


def _mode(terms: Mapping[str, Any]) -> str:
    mode = short(str(terms.get("mode", "not stated")))
    words = _MODES.get(mode, f"The privacy mode is {mode}")
    epsilon = terms.get("epsilon")
    if _amount(epsilon) > 0:
        words += f", with epsilon = {stated(_amount(epsilon))} per release"
    return f"{words}."


def _rules(result: AuditResult) -> str:
    """The disclosure rules that are on."""
    rules = []
    least, per_level, rounding = (
        _amount(result.guarantee.get(name))
        for name in ("minimum_cell", "records_per_level", "rounding")
    )
    if least > 1 and is_summed(result):
        rules.append(f"groups of fewer than {amount(least)} records in the sum are set aside")
    elif least > 1:
        rules.append(f"cells of fewer than {amount(least)} records are withheld")
    if per_level > 0:
        rules.append(f"a cell sends at most one value per {amount(per_level)} records")
    if rounding > 0:
        lowest, highest = result.plan.score_range
        step = number(rounding * (highest - lowest))
        rules.append(f"values are rounded to steps of {step} ({percent(rounding)} of the range)")
    if not rules:
        return "No disclosure rule was applied."
    return f"Disclosure rules: {'; '.join(rules)}."


def _amount(stated_term: object) -> float:
    """A term that is a number; 0 for what says nothing, since a file may hold anything."""
    if isinstance(stated_term, bool) or not isinstance(stated_term, int | float):
        return 0
    return stated_term


def _limits(result: AuditResult) -> str:
    """What is not promised: as the guarantee states it, or what the rules leave open."""
    terms = result.guarantee
    sentences = [
        f"{heading}: {' '.join(str(terms[name]).split())}."
        for name, heading in (("seen", "The auditor saw"), ("limits", "Limits of the protection"))
        if name in terms
    ]
    if not has_noise(result):
        if result.plan.sketch == "quantile" and not is_summed(result):
            rounded = ", rounded" if _amount(terms.get("rounding")) > 0 else ""
            sentences.append(f"Each quantile is somebody's score{rounded}.")
        sentences.append(
            "This is not differential privacy: it bounds nothing that other knowledge adds."
        )
    return " ".join(sentences)


def _further(terms: Mapping[str, Any]) -> str:
    others = [
        f"{short(name)} = {short(str(value))}"
        for name, value in sorted(terms.items())
        if name not in _SAID
    ]
    return f"Further stated terms: {', '.join(others)}." if others else ""
