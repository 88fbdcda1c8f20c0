"""From what a plan says to what it means: every key checked, every mistake found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fedparity.documents.fields import (
    KEY_BYTES,
    LONGEST_NAME,
    SIGNATURE_BYTES,
    FrozenMapping,
    as_whole,
    decode_base64,
    height_of,
    is_name,
    is_weak,
)
from fedparity.documents.plan_fields import (
    EXAMPLES,
    MOST_GROUPS,
    MOST_POINTS,
    MOST_VALUES,
    SCALARS,
    Problem,
    intersections,
)
from fedparity.errors import InputError, PlanError
from fedparity.errors.base import listed
from fedparity.errors.document_errors import shown
from fedparity.privacy.disclosure import (
    Disclosure,
    decimal,
    default_rounding,
    score_points,
    whole_steps,
)
from fedparity.sketches.kinds import DEFAULT_LEVELS, DEFAULT_SKETCH, Kind

if TYPE_CHECKING:
    from fedparity.documents.privacy_terms import PrivacyTerms

__all__ = [
    "MOST_PROBLEMS",
    "Problem",
    "default_sketch",
    "settle",
    "settle_scores",
]


def settle_scores(settled: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Fill in the defaults that follow from other keys, and return all contradictions.

    Parameters
    ----------
    settled : mapping
        The keys of a plan that are right one by one.

    Examples
    --------
    >>> stated, _ = settle_scores({"score_range": (1.0, 10.0), "score_step": 1.0, "levels": 100})
    >>> stated["sketch"], stated["disclosure"].rounding
    ('counts', 0.0)
    """
    bounds, step = settled.get("score_range"), settled.get("score_step")
    if bounds is not None and step is not None and (error := _step_error(bounds, step)):
        return {}, [Problem(("score_step",), error)]
    points = _points(settled)
    levels = settled.get("levels", DEFAULT_LEVELS)
    sketch = settled.get("sketch") or default_sketch(points, levels)
    rules = settled.get("disclosure", Disclosure())
    if rules.rounding is None:
        rules = replace(rules, rounding=default_rounding(sketch, stepped=step is not None))
    stated = {"sketch": sketch, "disclosure": rules}
    return stated, [*_mistakes({**settled, **stated}, points)]


def _points(settled: Mapping[str, Any]) -> int | None:
    """Return how many scores there can be; None if they lie on no grid, or on one that is wrong."""
    bounds, step = settled.get("score_range"), settled.get("score_step")
    steps = None if bounds is None or step is None else whole_steps(bounds, step)
    return None if steps is None else steps + 1


def default_sketch(points: int | None, levels: int) -> Kind:
    """Return the sketch of a plan that names none: counts where the scores have few points."""
    return "counts" if points is not None and points <= levels else DEFAULT_SKETCH


def _step_error(bounds: tuple[float, float], step: float) -> PlanError | None:
    steps = whole_steps(bounds, step)
    if steps is None:
        return PlanError(
            f"score_step = {step} does not divide the score range {list(bounds)} into whole steps.",
            fix="set score_step to the distance of neighboring scores, such as 1 or 0.01, or "
            "correct score_range: scores lie on its lower end plus whole steps.",
        )
    if steps >= MOST_POINTS:
        return PlanError(
            f"score_step leaves {steps + 1:,} scores in the range, more than {MOST_POINTS:,}.",
            fix="leave score_step out: so fine a grid counts as no grid.",
        )
    if (np.diff(score_points(bounds, step)) <= 0).any():
        return PlanError(
            f"score_step = {step} is too small for floats in this range: two scores are one float.",
            fix="leave score_step out, or rescale the score.",
        )
    return None


def _mistakes(settled: Mapping[str, Any], points: int | None) -> Iterator[Problem]:
    sketch, bounds = settled["sketch"], settled.get("score_range")
    if sketch == "counts" and "score_step" not in settled:
        yield Problem(
            ("sketch",),
            PlanError(
                'sketch = "counts" needs a score_step: records are counted at each score there can be.',
                fix='add score_step = 1.0, say, or set sketch to "mean".',
            ),
        )
    groups = len(settled.get("groups", ())) * (1 if settled.get("outcome") is None else 3)
    groups += sum(map(len, settled.get("axes", {}).values()))
    numbers: int = (points or 0) if sketch == "counts" else settled.get("levels", DEFAULT_LEVELS)
    if groups * numbers > MOST_VALUES:
        key = "score_step" if sketch == "counts" else "levels"
        error = PlanError.too_many_values(groups, numbers, MOST_VALUES)
        yield Problem((key,), error)
    if bounds is None:
        return
    for threshold in settled.get("thresholds", ()):
        if not bounds[0] < threshold <= bounds[1]:
            yield Problem(
                ("thresholds",),
                PlanError(
                    f"the threshold {threshold} must be above the lowest score, {bounds[0]}, and at most "
                    f"the highest, {bounds[1]}.",
                    fix="remove it, or correct score_range.",
                ),
            )
            break
    rounding, step = settled["disclosure"].rounding, settled.get("score_step")
    if rounding and sketch == "counts":
        yield Problem(
            ("disclosure", "rounding"),
            PlanError(
                'sketch = "counts" has no rounding: scores are points of the grid, and counts are exact.',
                fix="remove rounding, or set it to 0; minimum_cell and records_per_level merge counts.",
            ),
        )
    elif rounding and sketch == "quantile" and step and not _on_grid(bounds, step, rounding):
        yield Problem(
            ("disclosure", "rounding"),
            PlanError(
                f"rounding = {rounding} would move quantiles off the grid of score_step = {step}.",
                fix="remove rounding, or set it to 0 or to whole steps as a share of the score range.",
            ),
        )


def _on_grid(bounds: tuple[float, float], step: float, rounding: float) -> bool:
    """Whether values rounded to this share of the range are still points of the grid."""
    coarse = decimal(rounding) * (decimal(bounds[1]) - decimal(bounds[0]))
    return (coarse / decimal(step)).denominator == 1


MOST_PROBLEMS = 100
"""More mistakes are not looked for: nobody reads them, and a file may hold millions."""
_MOST_RECORDS = 10**12
_MAY_BE_EMPTY = ("axes", "unknown")
"""Keys that a plan in Python holds empty where a file leaves them out."""
_DISCLOSURE_KEYS = ("minimum_cell", "records_per_level", "rounding")


def settle(document: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Return what each key of a plan means, and every mistake in it.

    A key that is wrong is left out of the first, so that the others can be checked together.
    None means that the key is absent.
    """
    document = {
        key: value
        for key, value in document.items()
        if value is not None and (key not in _MAY_BE_EMPTY or value)
    }
    problems = [
        Problem((key,), PlanError.missing_key(key, example))
        for key, example in EXAMPLES.items()
        if key not in document and not (key == "groups" and "axes" in document)
    ]
    settled: dict[str, Any] = {}
    for key, value in _entries(document, problems):
        if key in SCALARS:
            _try(SCALARS[key], value, (key,), settled, problems)
        elif key in _TABLES:
            _settle_table(key, value, settled, problems)
        else:
            problems.append(Problem((key,), _unknown(key, (*SCALARS, *_TABLES))))
    problems += _axes_at_odds(settled)
    problems += _scores_at_odds(settled)
    problems += _at_odds(settled)
    problems += _tables_at_odds(settled)
    problems += _privacy_at_odds(settled)
    return settled, problems


def _entries(table: Mapping[str, Any], problems: Sequence[Problem]) -> Iterator[tuple[str, Any]]:
    """The entries of a table, as long as there are not too many mistakes."""
    for entry in table.items():
        if len(problems) >= MOST_PROBLEMS:
            return
        yield entry


def _try(
    check: Callable[[object], Any],
    value: object,
    path: tuple[str, ...],
    settled: dict[str, Any],
    problems: list[Problem],
) -> None:
    """Put what ``value`` means under the last key of ``path``, or its mistake on the list."""
    try:
        settled[path[-1]] = check(value)
    except PlanError as error:
        problems.append(Problem(path, error))


def _settle_table(
    key: str, value: object, settled: dict[str, Any], problems: list[Problem]
) -> None:
    if hasattr(value, "to_dict"):  # Disclosure, or PrivacyTerms
        value = value.to_dict()
    if not isinstance(value, Mapping):
        fix = f"write a line [{key}], and its keys below it."
        problems.append(Problem((key,), PlanError.wrong(key, "a table", value, fix=fix)))
        return
    found = len(problems)
    table = _TABLES[key](value, problems)
    if len(problems) == found:
        settled[key] = table


def _disclosure(table: Mapping[str, Any], problems: list[Problem]) -> Disclosure:
    settled: dict[str, Any] = {}
    for name, value in _entries(table, problems):
        path = ("disclosure", name)
        if name == "rounding" and value is None:
            continue  # the plan states the default of its sketch
        if name in _DISCLOSURE_KEYS:
            _try(_rule(name), value, path, settled, problems)
        else:
            problems.append(Problem(path, _unknown(name, _DISCLOSURE_KEYS)))
    return Disclosure(**settled)


def _rule(name: str) -> Callable[[Any], Any]:
    """The check of one disclosure rule: the rules' own, with the error of a plan."""

    def check(value: Any) -> object:  # noqa: ANN401 -- any value of a file
        if isinstance(value, int) and abs(value) > _MOST_RECORDS:  # too long to be printed
            raise PlanError.wrong(name, "a smaller number", value, fix=f"set {name} to 10 or so.")
        try:
            return getattr(Disclosure(**{name: value}), name)
        except InputError as error:
            raise PlanError(error.message, fix=error.fix) from None

    return check


def _privacy(table: Mapping[str, Any], problems: list[Problem]) -> PrivacyTerms | None:
    from fedparity.documents.privacy_terms import PRIVACY_KEYS, PrivacyTerms  # noqa: PLC0415 -- most plans have none

    found = len(problems)
    settled: dict[str, Any] = {}
    for name, value in _entries(table, problems):
        if name in PRIVACY_KEYS:
            _try(PRIVACY_KEYS[name], value, ("privacy", name), settled, problems)
        else:
            problems.append(Problem(("privacy", name), _unknown(name, tuple(PRIVACY_KEYS))))
    if "mode" not in table:
        error = PlanError.missing_key("mode in [privacy]", 'mode = "dp"')
        problems.append(Problem(("privacy",), error))
    return None if len(problems) > found else PrivacyTerms(**settled)


def _keys(table: Mapping[str, Any], problems: list[Problem]) -> FrozenMapping[str]:
    settled = _by_silo("keys", table, _public_key, problems)
    owners: dict[int, str] = {}
    for silo, text in settled.items():
        owner = owners.setdefault(height_of(decode_base64(text, KEY_BYTES) or b""), silo)
        if owner != silo:
            error = PlanError(
                f"silos {owner!r} and {silo!r} have the same public key, so that one could sign for "
                "the other.",
                fix="run fedparity keygen in each silo, and copy what each of them prints.",
            )
            problems.append(Problem(("keys", silo), error))
    return settled


def _totals(table: Mapping[str, Any], problems: list[Problem]) -> FrozenMapping[int]:
    return _by_silo("totals", table, _total, problems)


def _by_silo(
    key: str,
    table: Mapping[str, Any],
    check: Callable[[object], Any],
    problems: list[Problem],
) -> FrozenMapping[Any]:
    settled: dict[str, Any] = {}
    for silo, value in _entries(table, problems):
        if is_name(silo):
            _try(check, value, (key, silo), settled, problems)
        else:
            expected = f"a text of 1 to {LONGEST_NAME} characters that can be seen"
            error = PlanError.wrong("a silo's name", expected, silo, fix="name the silo.")
            problems.append(Problem((key, str(silo)), error))
    return FrozenMapping(settled)


def _public_key(value: object) -> str:
    key = decode_base64(value, KEY_BYTES) if isinstance(value, str) else None
    fix = "copy the key that fedparity keygen printed in the silo."
    if key is None:
        raise PlanError.wrong("a public key", "the base64 text of 32 bytes", value, fix=fix)
    if is_weak(key):
        raise PlanError("a public key is weak: anybody could sign under it.", fix=fix)
    return str(value)


def _signature(table: Mapping[str, Any], problems: list[Problem]) -> FrozenMapping[str]:
    settled: dict[str, Any] = {}
    for name, value in _entries(table, problems):
        if name in _SIGNATURE_KEYS:
            _try(_SIGNATURE_KEYS[name], value, ("signature", name), settled, problems)
        else:
            problems.append(Problem(("signature", name), _unknown(name, tuple(_SIGNATURE_KEYS))))
    for name in _SIGNATURE_KEYS:
        if name not in table:
            error = PlanError.missing_key(f"{name} in [signature]", "fedparity plan sign writes")
            problems.append(Problem(("signature",), error))
    return FrozenMapping(settled)


def _signature_value(value: object) -> str:
    if not isinstance(value, str) or decode_base64(value, SIGNATURE_BYTES) is None:
        raise PlanError.wrong(
            "a signature",
            f"the base64 text of {SIGNATURE_BYTES} bytes",
            value,
            fix="sign the plan with fedparity plan sign.",
        )
    return str(value)


def _total(value: object) -> int:
    number = as_whole(value, 1, _MOST_RECORDS)
    if number is None:
        raise PlanError.wrong(
            "a total",
            "a whole number of records of at least 1",
            value,
            fix="write the public number of records of the silo, or remove the line.",
        )
    return number


def _scores_at_odds(settled: dict[str, Any]) -> list[Problem]:
    """State the defaults that follow from the scores, or return what is wrong with them."""
    stated, problems = settle_scores(settled)
    settled.update(stated)
    return problems


def _axes_at_odds(settled: dict[str, Any]) -> list[Problem]:
    """State the groups of a plan with axes, or return what is wrong with them."""
    if "axes" not in settled:
        return []
    groups = intersections(settled["axes"])
    if len(groups) > MOST_GROUPS:
        error = PlanError(
            f"the axes have {len(groups):,} intersections, more than {MOST_GROUPS:,}.",
            fix="use fewer axes, or join labels.",
        )
        return [Problem(("axes",), error)]
    if settled.setdefault("groups", groups) != groups:
        error = PlanError(
            "groups of a plan with axes are the intersections of its axes, and not others.",
            fix="remove groups: they follow from axes.",
        )
        return [Problem(("groups",), error)]
    return []


def _tables_at_odds(settled: Mapping[str, Any]) -> list[Problem]:
    """The mistakes of plans with axes or an outcome."""
    problems: list[Problem] = []
    asked = [key for key in ("axes", "outcome") if key in settled]
    terms = settled.get("privacy")
    if asked and terms is not None and not terms.noisy:
        error = PlanError(
            f'{asked[0]} cannot be combined with mode = "secure": a sum without noise tells the auditor '
            "how many people there are of each intersection and outcome, however few.",
            fix='write mode = "secure+dp" and epsilon = 1.0, say: noise hides the few.',
        )
        problems.append(Problem(("privacy", "mode"), error))
    if "axes" in asked and settled.get("totals") and terms is None:
        error = PlanError(
            "axes cannot be combined with [totals] without noise: people of small categories are in no "
            "table, and a public total would give away how many they are.",
            fix='remove [totals], remove axes, or add [privacy] with mode = "dp" and epsilon = 1.0.',
        )
        problems.append(Problem(("totals",), error))
    labels = {label for axis in settled.get("axes", {}).values() for label in axis}
    labels |= set() if "axes" in settled else set(settled.get("groups", ()))
    for label in settled.get("unknown", ()):
        if label not in labels:
            error = PlanError(
                f"unknown names {shown(label)}, which is not a label of the plan.",
                fix="add it to the labels of an axis, or to groups.",
            )
            problems.append(Problem(("unknown",), error))
    outcome, bounds = settled.get("outcome"), settled.get("score_range")
    if outcome is not None and bounds is not None:
        for edge in outcome.bins:
            if not bounds[0] < edge <= bounds[1]:
                error = PlanError(
                    f"the bin edge {edge} must be above the lowest score, {bounds[0]}, and at most "
                    f"the highest, {bounds[1]}.",
                    fix="remove it, or correct score_range.",
                )
                problems.append(Problem(("outcome", "bins"), error))
                break
    return problems


def _at_odds(settled: Mapping[str, Any]) -> list[Problem]:
    """The mistakes of keys that are right one by one."""
    problems: list[Problem] = []
    silos = set(settled.get("silos", ()))
    for table in ("keys", "totals"):
        for silo in settled.get(table, ()):
            if silos and silo not in silos and len(problems) < MOST_PROBLEMS:
                error = PlanError(
                    f"[{table}] names silo {shown(silo)}, which is not among the silos of the plan.",
                    fix=f"correct the name ({listed(settled['silos'])}), or add it to silos.",
                )
                problems.append(Problem((table, silo), error))
    return problems


def _privacy_at_odds(settled: dict[str, Any]) -> list[Problem]:
    """State the defaults of the privacy terms, or return what is wrong with them."""
    terms = settled.get("privacy")
    if terms is None:
        return []
    from fedparity.documents.privacy_terms import settle_terms  # noqa: PLC0415 -- see _privacy

    silos, outcome = settled.get("silos"), settled.get("outcome")
    bins = () if outcome is None else outcome.bins
    settled["privacy"], problems = settle_terms(
        terms,
        silos=None if silos is None else len(silos),
        groups=len(settled.get("groups", ())) * (1 if outcome is None else 3),
        score_range=settled.get("score_range"),
        score_step=settled.get("score_step"),
        thresholds=sorted({*settled.get("thresholds", ()), *bins}),
    )
    return problems


def _unknown(key: object, known: tuple[str, ...]) -> PlanError:
    from difflib import get_close_matches  # noqa: PLC0415 -- only where something is wrong

    near = get_close_matches(str(key)[:LONGEST_NAME], known, n=1)
    hint = f"write {near[0]!r} instead" if near else f"use one of {', '.join(known)}"
    return PlanError(
        f"{shown(str(key))} is not a key of a plan here.", fix=f"{hint}, or remove it."
    )


_TABLES: Mapping[str, Callable[[Mapping[str, Any], list[Problem]], Any]] = {
    "disclosure": _disclosure,
    "privacy": _privacy,
    "keys": _keys,
    "totals": _totals,
    "signature": _signature,
}
_SIGNATURE_KEYS: Mapping[str, Callable[[object], str]] = {
    "key": _public_key,
    "value": _signature_value,
}
