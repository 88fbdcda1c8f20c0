"""A result read back: what each field may hold follows from its type, and the parts must agree."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, pairwise
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from fedparity.documents.fields import FrozenMapping, as_group, hidden_place
from fedparity.documents.result_parts import (
    SILO_LEVELS,
    Bounded,
    Curves,
    Estimate,
    InDeviations,
    SiloResult,
    TailResult,
    ThresholdResult,
    Verdicts,
    verdict,
    written_fields,
)
from fedparity.documents.tabular import Parts
from fedparity.errors import ResultError
from fedparity.laws.bounds import Bounds
from fedparity.laws.labels import Group

if TYPE_CHECKING:
    from fedparity.documents.result import AuditResult

__all__ = ["check_result", "read_part", "relabeled"]

Part = TypeVar("Part")
Read: TypeAlias = Callable[[Any, str], Any]
"""Returns what a field holds, or raises; the text says where the field is."""


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or hidden_place(value) is not None:
        raise ResultError.field(where, "a text whose characters can be seen", value)
    return value


def _amount(value: object, where: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ResultError.field(where, "a finite number", value)
    return value


def _number(value: object, where: str) -> float:
    return float(_amount(value, where))


def _whole(value: object, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ResultError.field(where, "a whole number of at least 0", value)
    return value


def _truth(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise ResultError.field(where, "true or false", value)
    return value


def _interval(value: object, where: str) -> Bounds:
    return _ordered(_tuple_with((_number, _number))(value, where), where)


def _ordered(ends: tuple[float, ...], where: str) -> Bounds:
    lower, upper = ends
    if lower > upper:
        raise ResultError.field(where, "two numbers, the lower first", ends)
    return Bounds(lower, upper)


def _reach(value: object, where: str) -> Bounds:
    """An interval; null means an end without a limit."""
    ends = _tuple_with((_or_null(_number), _or_null(_number)))(value, where)
    lower, upper = ends
    return _ordered(
        (-math.inf if lower is None else lower, math.inf if upper is None else upper), where
    )


def _label(value: object, where: str) -> Group:
    group = as_group(value)
    if group is None:
        raise ResultError.field(where, "the label of a group", value)
    return group


def _term(value: object, where: str) -> object:
    if value is not None and not isinstance(value, str | bool | int | float):
        raise ResultError.field(where, "a text, number, boolean or null", value)
    return value


def _one_of(choices: tuple[Any, ...]) -> Read:
    def read(value: object, where: str) -> object:
        if isinstance(value, bool) or value not in choices:
            names = ", ".join(repr(choice) for choice in choices)
            raise ResultError.field(where, f"one of {names}", value)
        return choices[choices.index(value)]

    return read


def _or_null(read: Read) -> Read:
    return lambda value, where: None if value is None else read(value, where)


def _tuple_of(read: Read, kind: type[tuple[Any, ...]] = tuple) -> Read:
    def read_all(value: object, where: str) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise ResultError.field(where, "a list", value)
        return kind(read(item, f"{where}[{i}]") for i, item in enumerate(value))

    return read_all


def _tuple_with(reads: tuple[Read, ...]) -> Read:
    def read_each(value: object, where: str) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or len(value) != len(reads):
            raise ResultError.field(where, f"a list of {len(reads)}", value)
        return tuple(
            read(item, f"{where}[{i}]")
            for i, (read, item) in enumerate(zip(reads, value, strict=True))
        )

    return read_each


def _mapping_of(read: Read) -> Read:
    def read_all(value: object, where: str) -> FrozenMapping[Any]:
        if not isinstance(value, Mapping):
            raise ResultError.field(where, "an object", value)
        return FrozenMapping({_text(k, where): read(v, f"{where}.{k}") for k, v in value.items()})

    return read_all


def _limit(value: object, where: str) -> float:
    return math.inf if value is None else _number(value, where)


_TAGGED: Mapping[str, Read] = {
    "amount": _amount,
    "limit": _limit,
    "reach": _reach,
    "terms": _mapping_of(_term),
}
_PLAIN: Mapping[Any, Read] = {
    str: _text,
    float: _number,
    int: _whole,
    bool: _truth,
    Bounds: _interval,
    Group: _label,
}


def _reader(hint: Any) -> Read:  # noqa: ANN401 -- a type
    """What reads a field of this type."""
    origin, parts = get_origin(hint), get_args(hint)
    read: Read
    if origin is Annotated:
        read = _TAGGED[hint.__metadata__[0]]
    elif origin is Literal:
        read = _one_of(parts)
    elif origin is Parts:
        read = _tuple_of(_reader(parts[0]), Parts)
    elif origin is tuple and parts[-1] is Ellipsis:
        read = _tuple_of(_reader(parts[0]))
    elif origin is tuple:
        read = _tuple_with(tuple(map(_reader, parts)))
    elif NoneType in parts:
        read = _or_null(_reader(next(part for part in parts if part is not NoneType)))
    elif origin is not None:
        read = _mapping_of(_reader(parts[1]))
    else:
        read = _PLAIN.get(hint) or partial(read_part, hint)
    return read


_NOT_READ = {"Federation": object}
"""Types of fields that no document holds, which a layer above defines."""


@cache
def _readers(part: Any) -> Mapping[str, Read]:  # noqa: ANN401 -- a type
    hints = get_type_hints(part, localns=_NOT_READ, include_extras=True)
    return {name: _reader(hints[name]) for name in written_fields(part)}


def read_part(part: type[Part], document: object, where: str) -> Part:
    """Return the part that an object of a result holds.

    Raises
    ------
    ResultError
        If a field is missing, unknown, or holds something else.
    """
    readers = _readers(part)  # type: ignore[arg-type]  # a class can be hashed
    if not isinstance(document, Mapping):
        raise ResultError.field(where, "an object", document)
    if document.keys() != readers.keys():
        unknown = sorted(map(str, document.keys() - readers.keys()))
        raise ResultError.fields(where, unknown, sorted(readers.keys() - document.keys()))
    return part(
        **{name: read(document[name], f"{where}.{name}") for name, read in readers.items()}
    )


def relabeled(silo: SiloResult, labels: Mapping[str, Group]) -> SiloResult:
    """Return the same silo with its fields by label instead of by the label's text.

    Raises
    ------
    ResultError
        If a text is of no group, or the quantiles are not one per level, in order.
    """
    for group, values in silo.quantiles.items():
        if values is not None:
            _check_curve(f"quantiles of a silo, {group!r}", values, len(SILO_LEVELS))
    kept: dict[str, Any] = {}
    for name in ("n", "levels", "withheld", "quantiles"):
        by_text: Mapping[str, Any] = getattr(silo, name)
        for key in by_text:
            if key not in labels:
                raise ResultError.field(f"{name} of a silo", "an object with the groups", key)
        kept[name] = FrozenMapping({labels[key]: value for key, value in by_text.items()})
    return replace(silo, **kept)


def check_result(result: AuditResult) -> None:
    """Raise unless every part is about the same groups and silos, ranges nest, and verdicts follow.

    A file may have been cut or changed.

    Raises
    ------
    ResultError
        If two parts contradict each other; the first place is named.
    """
    _check_curves(result.curves, [each.group for each in result.groups])
    for place, expected, agrees in _CHECKS:
        if not agrees(result):
            raise ResultError(
                f"{place} of the result must be {expected}; the file was changed.",
                fix="pass the file as fedparity wrote it.",
            )


def _check_curves(curves: Curves, groups: Sequence[Group]) -> None:
    """Raise unless the curves are those of the groups, as long as their levels, and increasing."""
    if [each.group for each in curves.groups] != list(groups):
        raise ResultError.field(
            "curves.groups", "the groups in their order", [each.group for each in curves.groups]
        )
    levels = curves.levels
    if not levels or (levels[0], levels[-1]) != (0, 1) or any(b <= a for a, b in pairwise(levels)):
        raise ResultError.field("curves.levels", "levels that increase from 0 to 1", levels[:3])
    named = {f"curves.groups[{i}].quantiles": g.quantiles for i, g in enumerate(curves.groups)}
    for where, values in {**named, "curves.center": curves.center}.items():
        _check_curve(where, values, len(levels))


def _check_curve(where: str, values: Sequence[float], length: int) -> None:
    if len(values) != length or any(after < before for before, after in pairwise(values)):
        raise ResultError.field(where, f"{length} numbers that do not decrease", values)


def _has_groups(result: AuditResult) -> bool:
    groups = [each.group for each in result.groups]
    return len(groups) == len(set(groups)) >= 2


def _has_pairs(result: AuditResult) -> bool:
    groups = [each.group for each in result.groups]
    return [pair.groups for pair in result.pairs] == list(combinations(groups, 2))


def _has_set_aside(result: AuditResult) -> bool:
    groups = {each.group for each in result.groups}
    aside = [each.group for each in result.set_aside]
    return len(aside) == len(set(aside)) and groups.isdisjoint(aside)


def _has_cells(result: AuditResult) -> bool:
    groups = {each.group for each in result.groups}
    groups |= {each.group for each in result.set_aside}
    return all(
        silo.n.keys() == silo.levels.keys() == silo.quantiles.keys() == groups
        and silo.withheld.keys() <= groups
        for silo in result.silos
    )


def _has_amounts(result: AuditResult) -> bool:
    """No number of records, distance or disparity is negative, and shares are between 0 and 1."""
    groups, silos, pairs = result.groups, result.silos, result.pairs
    amounts = (
        *(result.n, result.disparity.interval.lower, result.heterogeneity.value),
        *(each.n for each in groups),
        *(number or 0 for silo in silos for number in silo.n.values()),
        *(silo.interval.lower for silo in silos if silo.interval is not None),
        *(number or 0 for s in silos for number in (s.disparity, s.heterogeneity, s.wasserstein)),
        *(number for pair in pairs for number in (pair.interval.lower, pair.cramer)),
    )
    shares = (result.disparity.p_value, *(each.share for each in groups))
    return min(amounts) >= 0 and all(0 <= share <= 1 for share in shares)


def _has_sentences(result: AuditResult) -> bool:
    return bool(result.plan.title and result.software) and all(
        each.text for each in result.warnings
    )


def _has_silos(result: AuditResult) -> bool:
    received = result.silos_received
    return (
        0 < len(received) == len(set(received))
        and not set(received) & set(result.silos_missing)
        and received == tuple(silo.silo for silo in result.silos)
        and received == tuple(each.silo for each in result.attribution.silos)
    )


def _has_range(result: AuditResult) -> bool:
    return result.plan.score_range.lower < result.plan.score_range.upper


def _has_terms(result: AuditResult) -> bool:
    terms = result.decomposition
    return (terms.remainder is None) == (result.plan.order == 1 or terms.v_mix is None)


def _has_estimates(result: AuditResult) -> bool:
    """Every combined interval contains its interval, which contains both estimates."""
    estimates: tuple[Estimate, ...] = (
        result.disparity,
        result.magnitudes.points,
        result.magnitudes.worst_pair,
    )
    return all(
        _contains(each.combined, each.interval)
        and each.value in each.interval
        and each.corrected in each.interval
        for each in estimates
    )


def _has_bounds(result: AuditResult) -> bool:
    """Outer bounds contain the certificate."""
    found = result.magnitudes
    bounded: tuple[Bounded | InDeviations, ...] = (
        result.disparity,
        found.points,
        found.worst_pair,
        found.standardized.deviation,
        found.standardized.distance,
        found.standardized.mean_gap,
        found.variance_share,
        found.location_share,
        found.equal_weights,
        *found.burden,
    )
    return all(_contains(each.outer, each.certificate) for each in bounded)


def _has_magnitudes(result: AuditResult) -> bool:
    """The worst pair and the burdens are of the groups that were measured."""
    found = result.magnitudes
    groups = [each.group for each in result.groups]
    worst = found.worst_pair
    return (
        worst.groups in [pair.groups for pair in result.pairs]
        and worst.higher in (*worst.groups, None)
        and [each.group for each in found.burden] == groups
    )


def _has_thresholds(result: AuditResult) -> bool:
    groups = [each.group for each in result.groups]
    scores = [each.score for each in result.thresholds]
    rates: tuple[ThresholdResult | TailResult, ...] = (*result.thresholds, *result.tails)
    return (
        len(scores) == len(set(scores))
        and set(scores) >= set(result.plan.thresholds)
        and all([row.group for row in each.groups] == groups for each in rates)
    )


def _has_compared(result: AuditResult) -> bool:
    compared = result.disparity.compared
    inside = compared.value is None or compared.value in compared.answered
    return inside and _contains(compared.all, compared.answered)


def _has_verdicts(result: AuditResult) -> bool:
    found = result.disparity
    return found.verdict == Verdicts(
        answered=verdict(found.compared.answered, found.review_level),
        all=verdict(found.compared.all, found.review_level),
    )


def _contains(outer: Bounds, inner: Bounds) -> bool:
    return outer.lower <= inner.lower and inner.upper <= outer.upper


def _has_confidence(result: AuditResult) -> bool:
    return 0 < result.confidence < 1


_CHECKS: tuple[tuple[str, str, Callable[[AuditResult], bool]], ...] = (
    ("groups", "two or more different groups", _has_groups),
    ("pairs", "every two of the groups, in their order", _has_pairs),
    ("set_aside", "groups that were not measured, each once", _has_set_aside),
    ("silos", "those received, each once, and in the attribution too", _has_silos),
    ("n, levels, quantiles and withheld of a silo", "the groups", _has_cells),
    ("numbers of records, distances and shares", "0 or more, shares at most 1", _has_amounts),
    ("the title, software and warnings", "texts that say something", _has_sentences),
    ("score_range of the plan", "two numbers, the lower first", _has_range),
    (
        "remainder of the decomposition",
        "null for order 1, and a number for order 2 unless no term is known",
        _has_terms,
    ),
    ("interval", "inside combined, and around value and corrected", _has_estimates),
    ("certificate", "inside outer", _has_bounds),
    ("worst_pair and burden", "of the groups that were measured", _has_magnitudes),
    ("thresholds and tails", "those of the plan, with every group", _has_thresholds),
    ("compared", "a value inside answered, and answered inside all", _has_compared),
    ("verdict", "what compared and review_level say", _has_verdicts),
    ("confidence", "a number between 0 and 1", _has_confidence),
)
"""Place, what must be there, and the check; in this order, as later ones rely on earlier ones."""
