"""The plan: what an auditor requests of every silo, public and bound into every message; read with every mistake at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from fedparity.documents.fields import FrozenMapping, Label, hidden_place, json_label, typed_label
from fedparity.documents.files import Document, Path, read_bounded
from fedparity.documents.json_text import (
    LARGEST_TOML,
    TomlSyntaxError,
    canonical_bytes,
    key_lines,
    parse_toml,
)
from fedparity.documents.plan_fields import (
    SCHEMA,
    Favorable,
    Outcome,
    PlanTable,
    Problem,
    ReviewUnit,
    plan_toml,
    records_of,
)
from fedparity.documents.plan_rules import MOST_PROBLEMS, default_sketch, settle
from fedparity.documents.tabular import Columns, Tabular
from fedparity.errors import PlanError
from fedparity.laws.labels import Group
from fedparity.laws.law import FloatArray
from fedparity.privacy.disclosure import Disclosure, score_points
from fedparity.sketches.kinds import DEFAULT_ESTIMATOR, DEFAULT_LEVELS, Kind

if TYPE_CHECKING:
    from fedparity.documents.privacy_terms import PrivacyTerms
    from fedparity.privacy.histograms import Grid

__all__ = [
    "Mistake",
    "Plan",
    "check_plan",
    "plan_warnings",
    "read_plan_text",
    "settled_document",
    "settled_text",
    "unreachable_level",
]


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan(Document, Tabular):
    r"""What an auditor requests of every silo; valid once built.

    Build it, or read it from TOML with :meth:`read`. A plan holds nothing secret and nothing
    that was read from data.

    Parameters
    ----------
    title : str
    groups : sequence of labels
        In reporting order: texts, whole numbers or booleans, or tuples of them for an
        intersection. Distinct by their text, to which a table's labels are compared. With ``axes``
        they are all intersections of them, and need not be given.
    score_range : (float, float)
        The lowest and the highest score that the score can have by definition.
    score_step : float, optional
        Scores lie on a public grid: the lowest plus whole steps, up to the highest.
    levels : int, default 100
        The k of a sketch; the disclosure rules may give a small cell fewer.
    sketch : "mean", "quantile" or "counts", optional
        Means of the scores between quantiles, quantiles, or the number of records at each score
        there can be. If absent, counts where ``score_step`` leaves no more scores than ``levels``,
        else means.
    estimator : "exact" or "grid"
    thresholds : sequence of float
        Scores at which records are counted on both sides, in increasing order; a score equal to a
        threshold is above it.
    favorable : "above" or "below"
        On which side of a threshold it is good to be.
    period : (date, date), optional
        The first and the last day that records are of; dates, or ISO texts. It says which records
        are meant; the silo selects them, and declares it.
    order : 1 or 2
    review_level : float, optional
        Disparity above which you want a review; no verdict without.
    review_unit : "points", "share", "sd" or "squared"
        The quantity that the review level limits: :math:`W_2` of the worst pair of groups, in score points, as
        a share of the range or in standard deviations; or the disparity :math:`G_p` itself.
    trim : float in [0, 0.5)
    silos : sequence of str, optional
        The roster: a silo of it that sends nothing is reported, any other is refused.
    disclosure : Disclosure or mapping
    privacy : PrivacyTerms or mapping, optional
    keys : mapping of silo to str
        Ed25519 public keys in base64; if there are any, every message must be signed.
    totals : mapping of silo to int
        Numbers of records that are public anyway. A withheld cell could be computed from such a
        total and the other cells, so a silo with a total withholds a second one; and the
        auditor can bound what was withheld.
    axes : mapping of str to labels
        Two or more attributes, such as sex and race, each with its labels: then there is a table by
        each of them, besides the one by all of them together.
    unknown : sequence of labels
        Labels that say that an attribute is not known: counted, and compared with nobody.
    set_aside : float
        Share of the records below which a category is printed and not compared.
    outcome : Outcome or mapping, optional
        The labels of what happened, ``positive`` and ``negative``, and ``bins`` of calibration.
    signature : mapping, optional
        The auditor's public ``key`` and the ``value`` of the Ed25519 signature of all the rest, as
        :func:`~fedparity.documents.signing.sign_plan` makes it. No part of the digest.

    Raises
    ------
    PlanError
        For the first mistake; :func:`~fedparity.documents.plan.check_plan` finds all.

    Examples
    --------
    >>> plan = Plan(title="Q4", groups=("A", "B"), score_range=(0, 1))
    >>> plan.levels, plan.sketch, plan.disclosure.minimum_cell
    (100, 'mean', 11)
    >>> Plan(title="Deciles", groups=("A", "B"), score_range=(1, 10), score_step=1).sketch
    'counts'
    >>> Plan.from_toml(plan.to_toml()) == plan
    True
    """

    schema: ClassVar[str] = SCHEMA

    title: str
    groups: Sequence[Group] = None  # type: ignore[assignment]  # always stated once built
    score_range: tuple[float, float]
    score_step: float | None = None
    levels: int = DEFAULT_LEVELS
    sketch: Kind = None  # type: ignore[assignment]  # always stated once built
    estimator: Literal["grid", "exact"] = DEFAULT_ESTIMATOR
    thresholds: Sequence[float] = ()
    favorable: Favorable = "above"
    period: tuple[str, str] | None = None
    order: Literal[1, 2] = 2
    review_level: float | None = None
    review_unit: ReviewUnit = "points"
    trim: float = 0.0
    silos: Sequence[str] | None = None
    disclosure: Disclosure = Disclosure()  # noqa: RUF009 -- frozen
    privacy: PrivacyTerms | None = None
    keys: Mapping[str, str] = FrozenMapping({})
    totals: Mapping[str, int] = FrozenMapping({})
    axes: Mapping[str, tuple[Label, ...]] = FrozenMapping({})
    unknown: Sequence[Label] = ()
    set_aside: float = 0.0
    outcome: Outcome | None = None
    signature: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        settled, problems = settle({"schema": SCHEMA, **given})
        if problems:
            raise problems[0].error
        settled = {"axes": FrozenMapping({}), "unknown": (), **settled}
        for name, value in settled.items():
            if name != "schema":
                object.__setattr__(self, name, value)

    @classmethod
    def read(cls, path: Path) -> Plan:
        """Return the plan of a TOML file.

        Raises
        ------
        PlanError
            If it cannot be read, or has mistakes: all are listed, each with line and fix.
        """
        text = read_plan_text(path)
        try:
            return cls.from_toml(text)
        except PlanError as error:
            raise error.within(str(path)) from None

    @classmethod
    def from_toml(cls, text: str) -> Plan:
        """Return the plan of a TOML text."""
        return cls._of(settled_text(text))

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Plan:
        """Return the plan of what :meth:`to_dict` returns."""
        return cls._of(settled_document(document))

    @classmethod
    def _of(cls, settled: Mapping[str, Any]) -> Plan:
        return cls(**{key: value for key, value in settled.items() if key != "schema"})

    def to_dict(self) -> dict[str, Any]:
        """Return the complete plan as JSON holds it: every default stated, None where absent.

        Axes, unknown labels, the share set aside and the outcome are there only if the plan has them.
        """
        return {
            "schema": SCHEMA,
            "title": self.title,
            "groups": [json_label(group) for group in self.groups],
            "score_range": list(self.score_range),
            "score_step": self.score_step,
            "levels": self.levels,
            "sketch": self.sketch,
            "estimator": self.estimator,
            "thresholds": list(self.thresholds),
            "favorable": self.favorable,
            "period": None if self.period is None else list(self.period),
            "order": self.order,
            "review_level": self.review_level,
            "review_unit": self.review_unit,
            "trim": self.trim,
            "silos": None if self.silos is None else list(self.silos),
            "disclosure": self.disclosure.to_dict(),
            "privacy": None if self.privacy is None else self.privacy.to_dict(),
            "keys": dict(self.keys),
            "totals": dict(self.totals),
            **self._tables_requested,
            "signature": None if self.signature is None else dict(self.signature),
        }

    def table_columns(self) -> Columns:
        """Return each setting and its value as text, as TOML writes it, in :meth:`to_frame`."""
        settings = dict(_flat(self.to_dict()))
        return {"setting": list(settings), "value": list(settings.values())}

    @property
    def _tables_requested(self) -> dict[str, Any]:
        """What it says of tables by axis and outcome; nothing in a plan of one table."""
        axes = [{"name": name, "labels": list(labels)} for name, labels in self.axes.items()]
        outcome = None if self.outcome is None else self.outcome.to_dict()
        tables = {
            "axes": axes,
            "unknown": list(self.unknown),
            "set_aside": self.set_aside,
            "outcome": outcome,
        }
        return {name: value for name, value in tables.items() if value}

    @property
    def tables(self) -> tuple[PlanTable, ...]:
        """The tables that a result shows besides the disparity of the groups; none in a plain plan."""
        if not self._tables_requested:
            return ()
        margins = (PlanTable((name,), tuple(labels)) for name, labels in self.axes.items())
        return PlanTable((), tuple(self.groups)), *margins

    @property
    def releases_tables(self) -> bool:
        """Whether silos send more than one table: by axis, or by outcome."""
        return bool(self.axes) or self.outcome is not None

    def table_plan(self, table: PlanTable, *, by_outcome: bool = False) -> Plan:
        """Return the plan of one table, as if nothing else were requested; by outcome, with its bins."""
        return replace(
            self,
            groups=table.groups,
            thresholds=self.cuts if by_outcome else self.thresholds,
            keys=FrozenMapping({}),
            totals=FrozenMapping({}) if table.by else self.totals,
            axes=FrozenMapping({}),
            unknown=(),
            set_aside=0.0,
            outcome=None,
            signature=None,
        )

    @property
    def cuts(self) -> tuple[float, ...]:
        """The scores at which records are counted: thresholds, and edges of bins of calibration."""
        bins = () if self.outcome is None else self.outcome.bins
        return tuple(sorted({*self.thresholds, *bins}))

    @cached_property
    def record_labels(self) -> tuple[Group, ...]:
        """The labels by which a silo distinguishes its records: the groups, or the groups by outcome."""
        return records_of(self.groups, self.outcome)

    def to_toml(self) -> str:
        """Return the plan as a TOML text with a comment for each key."""
        return plan_toml(self.to_dict())

    def file_bytes(self) -> bytes:
        """Return what a file of the plan holds: TOML."""
        return self.to_toml().encode("utf-8")

    @cached_property
    def silo_set(self) -> frozenset[str]:
        """The roster as a set; empty without a roster."""
        return frozenset(self.silos or ())

    @cached_property
    def typed_groups(self) -> list[object]:
        """What the groups of a message are compared with."""
        return [typed_label(group) for group in self.groups]

    @cached_property
    def score_points(self) -> FloatArray:
        """The scores there can be: the float of each decimal point of the grid.

        Raises
        ------
        PlanError
            If the plan has no ``score_step``.
        """
        if self.score_step is None:
            raise PlanError(
                "the plan has no score_step, so its scores have no points.",
                fix="add score_step to the plan if scores lie on a public grid.",
            )
        points = score_points(self.score_range, self.score_step)
        points.flags.writeable = False
        return points

    @property
    def most_values(self) -> int:
        """How many values a cell can have: the levels, or the points at which records are counted."""
        return self.score_points.size if self.sketch == "counts" else self.levels

    @property
    def rounding(self) -> float:
        """The share of the score range to which values are rounded; 0 if they are not."""
        return self.disclosure.rounding or 0.0

    @property
    def message_kind(self) -> Kind | Literal["histogram"]:
        """What the values of a silo's message are: those of the sketch, or noisy counts."""
        return self.sketch if self.privacy is None else "histogram"

    @property
    def grid(self) -> Grid:
        """The bins of the histograms that silos count in a privacy mode.

        No bin has scores on both sides of a threshold of the plan, or of an edge of calibration. Where scores lie on a grid, bins
        meet halfway between two of them, and each holds about as many as the others.
        """
        terms = self.privacy
        if terms is None:
            raise PlanError.no_histograms()
        from fedparity.privacy.histograms import Grid  # noqa: PLC0415 -- in a privacy mode only

        bins: dict[str, Any] = {
            "bins": terms.bins,
            "edges": terms.edges,
            "thresholds": self.cuts,
        }
        if self.score_step is not None:
            return Grid.of_points(self.score_points, **bins)
        return Grid.of(self.score_range, **bins)

    @property
    def guarantee(self) -> dict[str, Any]:
        """What a silo that follows the plan states in its message."""
        rules = self.disclosure.to_dict()
        if self.privacy is None:
            return {"mode": "none", **rules}
        return {**self.privacy.guarantee, "minimum_cell": rules["minimum_cell"]}

    def __repr__(self) -> str:
        return (
            f"Plan({self.title!r}, {len(self.groups)} groups, {self.levels} levels, "
            f"{self.digest[:15]}…)"
        )


def _flat(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Every setting with its value; those of an inner table have the names of both."""
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{before}{name}.")
        elif value not in (None, [], {}):
            yield f"{before}{name}", canonical_bytes(value).decode().strip('"')


def plan_warnings(plan: Plan) -> tuple[str, ...]:
    """Return what its author should know of a plan that is obeyed as it is, one sentence each.

    Examples
    --------
    >>> plan = Plan(
    ...     title="Deciles", groups=("A", "B"), score_range=(1, 10), score_step=1, sketch="mean"
    ... )
    >>> print(*plan_warnings(plan))
    sketch = "mean" is obeyed, but scores have 10 points only: counts at each would be exact, so leave sketch out.
    """
    return (*_sketch_warnings(plan), *_level_warnings(plan))


def _sketch_warnings(plan: Plan) -> tuple[str, ...]:
    if plan.score_step is None or plan.sketch == "counts":
        return ()
    points = plan.score_points.size
    if default_sketch(points, plan.levels) != "counts":
        return ()
    words = f'sketch = "{plan.sketch}" is obeyed, but scores have {points:,} points only'
    return (f"{words}: counts at each would be exact, so leave sketch out.",)


def unreachable_level(
    level: float, unit: ReviewUnit, score_range: tuple[float, float]
) -> str | None:
    """Return why no audit can exceed a review level, without a full stop; None if one can.

    Examples
    --------
    >>> unreachable_level(0.5, "points", (0.0, 10.0))
    >>> unreachable_level(50.0, "points", (0.0, 10.0))
    'a review level of 50 points is not below the whole score range, 10: no audit can exceed it'
    """
    width = score_range[1] - score_range[0]
    most = {"points": width, "share": 1.0}.get(unit)
    if most is None or level < most:
        return None
    words = f"{level:g} points is not below the whole score range, {most:g}"
    if unit == "share":
        words = f"{level:g} is {100 * level:g} % of the score range (5 % is 0.05)"
    return f"a review level of {words}: no audit can exceed it"


def _level_warnings(plan: Plan) -> tuple[str, ...]:
    if plan.review_level is None:
        return ()
    reason = unreachable_level(plan.review_level, plan.review_unit, plan.score_range)
    return () if reason is None else (f"{reason}.",)


_LAYOUT = dict.fromkeys(map(ord, "\t\r\n"), " ")


@dataclass(frozen=True)
class Mistake:
    """One mistake of a plan.

    Attributes
    ----------
    line : int or None
        Where it is, counted from 1; None where something is missing.
    key : str
        The key it is about, with its table, such as ``disclosure.rounding``.
    message : str
        What was expected and what was found.
    fix : str
        What to do about it.
    """

    line: int | None
    key: str
    message: str
    fix: str

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        return f"{place}{self.message} Fix: {self.fix}"


def check_plan(text: str) -> tuple[Mistake, ...]:
    """Return every mistake of a plan's TOML text, in the order of its lines; none if it is valid.

    Examples
    --------
    >>> plan = '''schema = "fedparity/plan/1"
    ... title = "Q4"
    ... groups = ["A", "A"]
    ... score_range = [0, 1]
    ... level = 50
    ... '''
    >>> for mistake in check_plan(plan):
    ...     print(mistake.line, mistake.message)
    3 two groups have the same text, 'A'.
    5 'level' is not a key of a plan here.
    """
    return _settled(text)[1]


def settled_text(text: str) -> dict[str, Any]:
    """Return what each key of a plan's TOML text means.

    Raises
    ------
    PlanError
        If there is a mistake; its message lists them all.
    """
    settled, mistakes = _settled(text)
    _refuse(mistakes)
    return settled


def settled_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what each key of a plan means that was written as JSON or built in Python.

    Raises
    ------
    PlanError
        If there is a mistake; its message lists them all.
    """
    settled, problems = settle(document)
    _refuse([_mistake(problem, {}) for problem in problems])
    return settled


def read_plan_text(path: Path) -> str:
    """Return the text of a plan file, without the mark that some editors put before it.

    Raises
    ------
    PlanError
        If it cannot be read, is larger than 4 MB, or is not UTF-8.
    """
    data = read_bounded(path, limit=LARGEST_TOML, error=PlanError)
    try:
        return plan_text(data)
    except PlanError as error:
        raise error.within(str(path)) from None


def plan_text(data: bytes) -> str:
    """Return the text of the bytes of a plan file, without the mark that some editors put before it.

    Raises
    ------
    PlanError
        If it is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise PlanError.not_utf8(problem.start) from None


def _settled(text: str) -> tuple[dict[str, Any], tuple[Mistake, ...]]:
    if len(text) > LARGEST_TOML:
        error = PlanError.too_large(LARGEST_TOML)
        return {}, (Mistake(None, "", error.message, error.fix),)
    place = hidden_place(text.translate(_LAYOUT))
    if place is not None:
        line = text.count("\n", 0, place) + 1
        code = f"U+{ord(text[place]):04X}"
        message = f"the plan holds a character that cannot be seen, {code}."
        return {}, (
            Mistake(line, "", message, "remove it; it could make the plan look like another."),
        )
    try:
        settled, problems = settle(parse_toml(text))
    except TomlSyntaxError as error:
        return {}, (_syntax_mistake(error),)
    lines = key_lines(text) if problems else {}
    mistakes = [_mistake(problem, lines) for problem in problems]
    return settled, tuple(sorted(mistakes, key=lambda m: m.line or 0))


def _syntax_mistake(error: TomlSyntaxError) -> Mistake:
    fix = 'write it as TOML: key = value, texts between quotes, lists as ["A", "B"].'
    return Mistake(error.line, "", f"this is not TOML: {error.problem}.", fix)


def _mistake(problem: Problem, lines: Mapping[tuple[str, ...], int]) -> Mistake:
    error = problem.error
    return Mistake(_line(problem.path, lines), ".".join(problem.path), error.message, error.fix)


def _line(path: tuple[str, ...], lines: Mapping[tuple[str, ...], int]) -> int | None:
    """The line of the key, or of the table or inline table that holds it."""
    for size in range(len(path), 0, -1):
        if path[:size] in lines:
            return lines[path[:size]]
    return None


def _refuse(mistakes: Sequence[Mistake]) -> None:
    if len(mistakes) == 1:
        (mistake,) = mistakes
        place = "" if mistake.line is None else f"line {mistake.line}: "
        raise PlanError(f"{place}{mistake.message}", fix=mistake.fix)
    if mistakes:
        more = " or more" if len(mistakes) >= MOST_PROBLEMS else ""
        lines = "\n".join(f"  {mistake}" for mistake in mistakes)
        raise PlanError(
            f"the plan has {len(mistakes)}{more} mistakes:\n{lines}",
            fix="correct each of them as its line says, then run fedparity plan check.",
        )
