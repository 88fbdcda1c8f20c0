"""The result of an audit in plain words, in 80 columns."""

from __future__ import annotations

from itertools import chain

from fedparity.auditing.parts import PairResult
from fedparity.auditing.result import AuditResult
from fedparity.cli.fitting import counted, cut, left, number, right, wrapped
from fedparity.cli.silo_lines import silo_lines
from fedparity.diagnostics.intervals import Interval
from fedparity.laws.labels import Group

__all__ = ["audit_text"]

_SHAPES = {"above": "▲", "below": "▼", "inconclusive": "◆", "none": "–"}
"""A verdict is a word with a shape, never a colour alone."""
_SHOWN = 8
"""Groups and pairs; the JSON has them all."""
_LABEL = 15


def audit_text(result: AuditResult, width: int = 80) -> str:
    """Return the result as text of at most ``width`` columns (60 or more), without colour."""
    sections = (
        _headline(result, width),
        _measures(result, width),
        _groups(result, width),
        _sources(result, width),
        _terms(result, width),
        ["Silos", *silo_lines(result, width)],
        _withheld(result, width),
        _warnings(result, width),
    )
    lines = chain.from_iterable(["", *section] for section in sections if section)
    return "\n".join(lines).lstrip("\n")


def _headline(result: AuditResult, width: int) -> list[str]:
    found = result.disparity
    shape = _SHAPES[found.verdict]
    value = f"{_symbol('G', result)} = {number(found.value)}"
    low, high = map(number, found.combined)
    if found.review_level is None:
        words = f"{value}; the plan names no review level to compare it with."
    elif found.verdict == "inconclusive":
        words = (
            f"Inconclusive at the review level {number(found.review_level)}: {value}, and all "
            f"errors together leave it between {low} and {high}."
        )
    else:
        words = (
            f"{found.verdict.capitalize()} the review level {number(found.review_level)}: {value}, "
            f"between {low} and {high} with all errors counted."
        )
    return [
        *wrapped(words, width, first=f"{shape} "),
        *wrapped(f"{result.plan.title} ({_size(result)})", width, first="  "),
    ]


def _size(result: AuditResult) -> str:
    received, missing = len(result.silos_received), len(result.silos_missing)
    silos = f"{received:,} of {received + missing:,}" if missing else f"{received:,}"
    plural = "" if received + missing == 1 else "s"
    plan = result.plan
    return (
        f"{silos} silo{plural}, {len(result.groups)} groups, {result.n:,.12g} records; "
        f"{plan.levels} levels, {plan.sketch} sketches, {plan.estimator} estimator"
    )


def _measures(result: AuditResult, width: int) -> list[str]:
    found, often = result.disparity, f"{100 * result.confidence:.3g} % interval"
    rows = [
        (f"Disparity {_symbol('G', result)}", found.value, found.interval, often),
        ("  certificate", None, found.certificate, "given the sketches"),
    ]
    if found.outer != found.certificate:
        rows.append(("  outer bounds", None, found.outer, "and all that is missing"))
    rows.append(
        (
            f"Heterogeneity {_symbol('H', result)}",
            result.heterogeneity.value,
            result.heterogeneity.interval,
            often,
        )
    )
    lines = [_measure(*row, width) for row in rows]
    chance = f"Noise alone would show as much in {_percent(found.p_value)} of samples (p-value)"
    zero = f"{_symbol('G', result)} = 0 means that the groups have the same law of scores."
    return [*lines, *wrapped(f"{chance}; {zero}", width, first="  ")]


def _measure(name: str, value: float | None, ends: Interval, meaning: str, width: int) -> str:
    shown = "" if value is None else number(value)
    between = f"{number(ends.lower)} to {number(ends.upper)}"
    return cut(f"{left(name, 18)}{right(shown, 10)}   {left(between, 22)} {meaning}", width)


def _groups(result: AuditResult, width: int) -> list[str]:
    lines = [
        f"{left('Group', _LABEL + 2)}{right('records', 12)}{right('share', 9)}{right('mean', 11)}"
    ]
    lines += [
        f"  {left(_words(each.group), _LABEL)}{right(f'{each.n:,.12g}', 12)}"
        f"{right(_percent(each.share), 9)}{right(number(each.mean), 11)}"
        for each in result.groups[:_SHOWN]
    ]
    lines += _more(len(result.groups), "groups")
    pairs = sorted(result.pairs, key=lambda pair: -pair.wasserstein)[:_SHOWN]
    lines += list(chain.from_iterable(_pair(pair, result, width) for pair in pairs))
    return lines + _more(len(result.pairs), "pairs")


def _pair(pair: PairResult, result: AuditResult, width: int) -> list[str]:
    first, second = (cut(_words(group), _LABEL) for group in pair.groups)
    words = (
        f"{first} and {second}: {_symbol('W', result)} = {number(pair.wasserstein)} score points, "
        f"means apart by {number(abs(pair.mean_gap))}"
    )
    return wrapped(words, width, first="  ", rest="    ")


def _more(total: int, things: str) -> list[str]:
    return [f"  and {total - _SHOWN:,} more {things} in the JSON"] if total > _SHOWN else []


def _sources(result: AuditResult, width: int) -> list[str]:
    parts, whole = result.attribution, result.disparity.value
    lines = ["Where it comes from"]
    for name, value, ends, meaning in (
        ("selection", parts.selection, parts.intervals.selection, "groups in different silos"),
        ("within", parts.within, parts.intervals.within, "scores differ in silos"),
    ):
        share = _percent(value / whole) if whole > 0 else "-"
        between = f"{number(ends.lower)} to {number(ends.upper)}"
        lines.append(
            cut(
                f"  {left(name, 10)}{right(number(value), 10)}{right(share, 8)}   "
                f"{left(between, 21)} {meaning}",
                width,
            )
        )
    words = (
        f"{_sentence(parts.selection, parts.within)} These are shares of a measure, not causes."
    )
    if parts.stand_ins:
        cells = counted(len(parts.stand_ins), "cell")
        words += f" Where a silo lacks a group ({cells}), its pooled law stands in."
    return [*lines, *wrapped(words, width, first="  ")]


def _sentence(selection: float, within: float) -> str:
    larger = "selection" if selection >= within else "within"
    reason = {
        "selection": "most of it is which group is in which silo.",
        "within": "most of it is how the groups are scored inside silos.",
    }[larger]
    if max(selection, within) <= 0:
        return "There is nothing to attribute."
    if min(selection, within) < 0:
        return f"The two oppose each other; {reason}"
    return reason[0].upper() + reason[1:]


def _terms(result: AuditResult, width: int) -> list[str]:
    terms, measure = result.decomposition, _symbol("G", result)
    bounds = f"{number(terms.lower)} ≤ {measure} ≤ {number(terms.upper)}"
    mixing, central = number(terms.v_mix), number(terms.v_bar)
    if terms.remainder is None:
        words = f"V_mix {mixing}, V_bar {central}, so {bounds} (triangle inequality)."
    else:
        rest = number(terms.remainder)
        words = f"V_mix {mixing} + V_bar {central} + R {rest} = {measure}, so {bounds}."
    limits = (
        "V_mix is how far silos differ, V_bar the disparity of the groups' centres. Neither sees "
        "which silo is which across groups, so neither is selection."
    )
    return ["Terms", *wrapped(words, width, first="  "), *wrapped(limits, width, first="  ")]


def _withheld(result: AuditResult, width: int) -> list[str]:
    silos = [silo for silo in result.silos if silo.withheld]
    if not silos:
        return []
    notes = "; ".join(f"{silo.silo}: {silo.note}" for silo in silos[:_SHOWN])
    more = len(silos) - _SHOWN
    rest = f"; and {counted(more, 'more silo')}" if more > 0 else ""
    return ["Withheld", *wrapped(f"{notes}{rest}.", width, first="  ")]


def _warnings(result: AuditResult, width: int) -> list[str]:
    if not result.warnings:
        return []
    return [
        "Warnings",
        *chain.from_iterable(wrapped(w, width, first="  ! ") for w in result.warnings),
    ]


def _symbol(letter: str, result: AuditResult) -> str:
    return letter + "₁₂"[result.plan.order - 1]


def _percent(share: float) -> str:
    return f"{number(100 * share, 2 if abs(share) < 0.1 else 3)} %"


def _words(group: Group) -> str:
    return " & ".join(map(str, group)) if isinstance(group, tuple) else str(group)
