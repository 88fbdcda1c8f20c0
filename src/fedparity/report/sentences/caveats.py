"""What is missing from an audit, what its numbers mean, and what left the silos."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from fedparity.documents.audit_warnings import WarningCode
from fedparity.documents.fields import group_words
from fedparity.documents.result import AuditResult, has_noise, symbol
from fedparity.documents.result_parts import PlanSummary, SetAside, SiloResult
from fedparity.report.sentences.naming import (
    counted_in,
    given_words,
    is_summed,
    joined,
    records_words,
    short,
)
from fedparity.text import amount, counted, number, percent, span, stated

__all__ = [
    "Caveat",
    "does_not_prove",
    "explain_accuracy",
    "explain_laws",
    "explain_privacy",
    "is_complete",
    "left_out",
    "levels_words",
    "reproduce_command",
    "reproduce_words",
    "set_aside_words",
    "weakening",
    "what_is_missing",
    "what_weakens",
]

_GROUPS: Final = frozenset({"group_set_aside"})
_SILOS: Final = frozenset({"silos_missing", "silos_dropped_out"})
_CELLS: Final = frozenset({"cells_withheld"})
_ROWS: Final = frozenset({"rows_dropped"})
_DOUBT: Final = frozenset({"implausible_count"})
_OTHERS: Final = frozenset({"no_intersections"})
"""Codes of the warnings that say what is said here from the result's own fields, if these know."""
_REASONS = {"small": "too few records", "complementary": "to protect another cell"}
_CELLS_NAMED = 5


class Caveat(NamedTuple):
    """A sentence, and the code of the warning that it is or repeats; empty where it is neither."""

    code: WarningCode | Literal[""]
    text: str


def is_complete(result: AuditResult) -> bool:
    """Return whether every silo that the plan names sent every cell and dropped no row."""
    return not (
        result.silos_missing
        or result.set_aside
        or any(silo.withheld for silo in result.silos)
        or any(silo.rows_dropped for silo in result.silos)
        or any(
            warning.code in _OTHERS | _GROUPS | _SILOS | _CELLS | _ROWS
            for warning in result.warnings
        )
    )


def left_out(result: AuditResult) -> tuple[str, ...]:
    """Return what must be stated right below the headline, which does not mention it.

    A sentence if the headline is of other groups than the plan's, one for every group set aside, one for
    the silos that sent nothing, and one if the headline hangs on a number that is hard to believe.
    """
    others, doubts = (
        [_started(warning.text) for warning in result.warnings if warning.code in codes]
        for codes in (_OTHERS, _DOUBT)
    )
    sentences = (*others, *set_aside_words(result), _silos(result), *doubts)
    return tuple(filter(None, sentences))


def set_aside_words(result: AuditResult) -> tuple[str, ...]:
    """Return a sentence for every group that was not measured."""
    return tuple(
        f"{short(group_words(each.group))}: {_why_aside(result, each)} ({each.known}). It is in no estimate."
        for each in result.set_aside
    )


def _why_aside(result: AuditResult, aside: SetAside) -> str:
    """Why a group was not measured; with noise, silos may have sent it without withholding any."""
    sent = has_noise(result) and not aside.withheld
    return "too small to be measured" if sent or is_summed(result) else "no silo released it"


def what_weakens(result: AuditResult) -> tuple[Caveat, ...]:
    """Return everything else that is missing, was cut, or weakens a number, by the code of its warning."""
    silos, cells, rows = _silos(result), _cells(result), _rows(result)
    said = {
        *_DOUBT,
        *_OTHERS,
        *(_GROUPS if result.set_aside else ()),
        *(_SILOS if silos else ()),
        *(_CELLS if cells else ()),
        *(_ROWS if rows else ()),
    }
    caveats = (
        Caveat("", _nothing(result)),
        Caveat("cells_withheld", cells),
        Caveat("", _bounds(result)),
        Caveat("rows_dropped", rows),
        *(
            Caveat(warning.code, _started(warning.text))
            for warning in result.warnings
            if warning.code not in said
        ),
    )
    return tuple(caveat for caveat in caveats if caveat.text)


def weakening(result: AuditResult) -> tuple[str, ...]:
    """Return the same as text, each warning with its code."""
    return tuple(
        f"{each.text} [{each.code}]" if each.code else each.text for each in what_weakens(result)
    )


def what_is_missing(result: AuditResult) -> tuple[str, ...]:
    """Return a sentence for everything that is missing, was cut, or weakens a number."""
    return (*left_out(result), *(each.text for each in what_weakens(result)))


def _started(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _nothing(result: AuditResult) -> str:
    if not is_complete(result):
        return ""
    everyone = "" if result.plan.simulated else "No silo that the plan names is missing, "
    words = "nothing was withheld, and no row was dropped because its score was missing."
    return _started(everyone + words)


def _silos(result: AuditResult) -> str:
    missing = result.silos_missing
    if not missing:
        return ""
    total = len(missing) + len(result.silos_received)
    are = "is" if len(missing) == 1 else "are"
    did = "dropped out" if is_summed(result) else "sent nothing"
    return (
        f"{len(missing):,} of {counted(total, 'silo')} {did} and {are} in no estimate: "
        f"{joined(missing)}."
    )


def _cells(result: AuditResult) -> str:
    groups = [
        *(each.group for each in result.groups),
        *(each.group for each in result.set_aside),
    ]
    cells = [
        f"{short(silo.silo)} ({short(group_words(group))}: {_REASONS[silo.withheld[group]]})"
        for silo in result.silos
        for group in groups  # in one order, wherever the result comes from
        if group in silo.withheld
    ]
    if not cells:
        return ""
    total = sum(len(silo.n) for silo in result.silos)
    were = "was" if len(cells) == 1 else "were"
    listed = "; ".join(cells[:_CELLS_NAMED])
    more = f"; and {len(cells) - _CELLS_NAMED:,} more" if len(cells) > _CELLS_NAMED else ""
    return f"{len(cells):,} of {counted(total, 'cell')} {were} withheld: {listed}{more}."


def _bounds(result: AuditResult) -> str:
    """What the missing records could do; nothing where they are too few to move a bound."""
    worst = result.magnitudes.worst_pair
    if worst.outer == worst.certificate:
        return ""
    return (
        "With what is missing, the two groups furthest apart in all raw data could be "
        f"{span(worst.outer)} points apart."
    )


def _rows(result: AuditResult) -> str:
    silos = [silo for silo in result.silos if silo.rows_dropped]
    if not silos:
        return ""
    rows = sum(silo.rows_dropped for silo in silos)
    were = "was" if rows == 1 else "were"
    return (
        f"{counted(rows, 'row')} without a score {were} dropped: {joined([*map(_dropped, silos)])}. "
        "The ranges do not allow for them."
    )


def _dropped(silo: SiloResult) -> str:
    return f"{short(silo.silo)} ({silo.rows_dropped:,})"


def does_not_prove() -> tuple[str, ...]:
    """Return what a reader may not conclude."""
    return (
        (
            "A disparity is a measurement, not a judgment: it does not say that a difference is "
            "unjustified, nor that equal distributions of scores are just."
        ),
        (
            "A value below the review level is no seal of approval: it says nothing about errors, "
            "calibration or outcomes, nor about any threshold that is not shown."
        ),
        "Parts and terms describe a measure. They name no cause, and no one to blame.",
        (
            "It holds for the records, groups and scores that the silos described, and for no other; "
            "that they followed the plan is their statement, which an audit cannot check."
        ),
        "The review level is a choice of the authors of the plan, not a finding.",
    )


def reproduce_command(result: AuditResult) -> str:
    """Return the command that makes the same result again.

    Of an audit, ``plan.toml`` (the file with the digest ``result.plan.digest``) and ``inbox`` stand for
    the plan and the messages. A simulation has neither: words in capitals stand for the table and its
    columns.
    """
    words = ["fedparity audit plan.toml inbox"]
    if result.plan.simulated:
        words = ["fedparity simulate TABLE --silo COLUMN --score COLUMN --group COLUMN"]
        words += _settings(result)
    if result.confidence != 0.95:
        words.append(f"--confidence {result.confidence!r}")
    if result.seed:
        words.append(f"--seed {result.seed}")
    pooled = any(warning.code == "pooled_redraws" for warning in result.warnings)
    if not pooled:  # such redraws are made only where their number is not given
        words.append(f"--redraws {result.redraws}")
    return " ".join([*words, "-o result.json"])


def _settings(result: AuditResult) -> list[str]:
    """The options of a simulation that replace a plan."""
    plan, found = result.plan, result.disparity
    lowest, highest = plan.score_range
    words = [f"--range {lowest!r} {highest!r}"]
    words += [
        f"--levels {plan.levels}",
        f"--sketch {plan.sketch}",
        f"--estimator {plan.estimator}",
    ]
    words += [f"--order {plan.order}"]
    words += [f"--step {plan.score_step!r}"] if plan.score_step is not None else []
    words += [f"--favorable {plan.favorable}"]
    if found.review_level is not None:
        words.append(f"--review-level {found.review_level!r} --review-unit {found.review_unit}")
    words += [f"--threshold {each.score!r}" for each in result.thresholds]
    return words + [f"--tail {each.level!r}" for each in result.tails]


def reproduce_words(result: AuditResult) -> str:
    """Return what the command needs."""
    if result.plan.simulated:
        return (
            "This is a simulation from one table: there is no plan file, and no silo sent a message. "
            "The command that makes the same result from the same table and columns:"
        )
    return "The command that makes the same result from the same plan and messages:"


def explain_laws(result: AuditResult) -> str:
    """Return what the curves of the groups and their center are."""
    sketches = {
        "quantile": "quantiles",
        "mean": "means between quantiles",
        "counts": "counts at every score",
        "histogram": "a histogram, as if scores were uniform inside a bin,",
    }[result.plan.sketch]
    middle, distance = {
        1: ("the weighted median, the lower where there are two,", "mean distance"),
        2: ("the weighted mean", "mean squared distance"),
    }[result.plan.order]
    return (
        f"A group's distribution in the whole is the mixture of its distributions in the silos, each rebuilt from "
        f"{sketches} and counted by the {counted_in(result)} it has there. The center is, at each rank, {middle} of "
        f"the groups' scores; {symbol('G', result)} is the {distance} of the groups to it. "
        f"{_means(result)}"
    )


def _means(result: AuditResult) -> str:
    lowest = min(result.groups, key=lambda each: each.mean)
    highest = max(result.groups, key=lambda each: each.mean)
    if lowest.mean == highest.mean:
        return f"All groups have the mean {number(lowest.mean)}."
    return (
        f"Means run from {number(lowest.mean)} ({short(group_words(lowest.group))}) to "
        f"{number(highest.mean)} ({short(group_words(highest.group))})."
    )


def levels_words(result: AuditResult) -> str:
    """Return how many numbers describe a cell, and where small samples sent fewer."""
    plan = result.plan
    cells = [k for silo in result.silos for k in silo.levels.values() if k]
    fewer = [k for k in cells if k < plan.levels]
    if plan.sketch == "histogram":
        return f"Histograms have {counted(plan.levels, 'bin')} of public edges."
    if plan.sketch == "counts":
        return "Records are counted at every score of a public grid; small counts are joined."
    values = {"quantile": "quantile", "mean": "bin mean"}[plan.sketch]
    words = f"k = {plan.levels}: up to {counted(plan.levels, values)} per cell"
    if not fewer:
        return f"{words}."
    have = "has" if len(fewer) == 1 else "have"
    return (
        f"{words}; {len(fewer):,} of {counted(len(cells), 'cell')} {have} fewer, the smallest "
        f"{min(fewer):,}."
    )


def explain_accuracy(result: AuditResult) -> str:
    """Return what each of the four ranges means, and what k is."""
    found, often = result.disparity, percent(result.confidence)
    reading = {
        "grid": "Algorithm 1, which reads the mixtures at k midpoints",
        "exact": "exact integration between the mixtures",
    }[result.plan.estimator]
    sentences = (
        (
            f"Interval, {span(found.interval)}: what the population could be, with sampling and the "
            f"estimated error of the sketches counted ({often}, "
            f"{counted(result.redraws, 'redraw')} of the whole from the sketches)."
        ),
        (
            f"Combined, {span(found.combined)}: the interval, moved outwards by as far as the raw "
            "data could lie from the estimate; verdicts compare such a range."
        ),
        _certificate(result),
        _outer(result),
        f"{levels_words(result)} Estimator: {reading}.",
        f"Measured: {records_words(result)}.",
    )
    return " ".join(filter(None, sentences))


def _certificate(result: AuditResult) -> str:
    ends = f"Certificate, {span(result.disparity.certificate)}: what the records"
    if has_noise(result):
        return (
            f"{ends} could give, {given_words(result)}; at {percent(result.confidence)}, as noise can "
            "be anything."
        )
    return f"{ends} of the released cells could give, {given_words(result)}; a proof, not a probability."


def _outer(result: AuditResult) -> str:
    found = result.disparity
    if found.outer == found.certificate:
        return "Outer bounds are the same, as nothing that is missing could widen them."
    return (
        f"Outer bounds, {span(found.outer)}: what all raw data could be, with withheld cells and "
        "missing silos counted, and groups that were set aside."
    )


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
    content, each = _cell_content(result)
    above = len(plan.thresholds)
    if above:
        content += f", and its records at or above {counted(above, 'threshold')}"
    most = groups * (1 + each + above)
    return (
        f"Of each silo the audit has, for each of {groups} groups, a count and {content}: at most "
        f"{most:,} numbers, and no record."
    )


def _cell_content(result: AuditResult) -> tuple[str, int]:
    """What a cell contains besides its count, with the largest number of values."""
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
        rules.append(f"values are rounded to {step} ({percent(rounding)} of the range)")
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
