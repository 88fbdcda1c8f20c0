"""The result of an audit: every number of ``fedparity/audit/1``, always present, and the one that reports lead with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from fedparity.documents.audit_warnings import AuditWarning
from fedparity.documents.files import Document, Path, read_bounded
from fedparity.documents.json_text import LARGEST, canonical_bytes, decode_object
from fedparity.documents.result_parts import (
    Amount,
    AttributionResult,
    Curves,
    DecompositionResult,
    DisparityResult,
    Estimate,
    GroupResult,
    HeterogeneityResult,
    MagnitudesResult,
    PairResult,
    PlanSummary,
    ResultSignature,
    SetAside,
    SiloResult,
    TailReport,
    TailResult,
    Terms,
    ThresholdReport,
    ThresholdResult,
    as_json,
    group_key,
    unseen_records,
)
from fedparity.documents.result_reading import check_result, read_part, relabeled
from fedparity.documents.signing import check_result_signature, keyed_signature
from fedparity.documents.table_parts import TableResult
from fedparity.documents.tabular import Columns, Part, Parts, Tabular
from fedparity.errors import OptionError, ResultError
from fedparity.laws.bounds import Bracket
from fedparity.laws.labels import Group
from fedparity.privacy.disclosure import NOISY_MODES

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from fedparity.federated.federation import Federation

__all__ = ["SCHEMA", "AuditResult", "Headline", "has_noise", "headline_of", "symbol"]

# A result is a document, and so at the bottom. Methods that compute or show something import what
# does it from layers above when they are called; pyproject.toml lists each of these imports.

SCHEMA: Final = "fedparity/audit/1"
_DEEPEST: Final = 12
"""Levels of nesting: the rates of outcomes by silo are in the twelfth."""
Whom: TypeAlias = Literal["answered", "all"]
"""To whom rates apply: those who answered, or all, whatever the missing records are."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditResult(Document, Part, Tabular):
    """What an audit found; :func:`fedparity.audit` makes it, and JSON holds it.

    Two results are equal if their JSON is. ``federation`` holds the sketches that were measured;
    it is not part of the JSON, so a result that was read from a file has none.
    """

    schema: Literal["fedparity/audit/1"]
    plan: PlanSummary
    silos_received: tuple[str, ...]
    silos_missing: tuple[str, ...]
    n: Amount
    """Records released, or their weight."""
    groups: Parts[GroupResult]
    """The groups that were measured, in the order of the plan.

    With the warning ``no_intersections`` they are the categories of an axis, and so are those set aside.
    """
    set_aside: Parts[SetAside]
    """The groups of the plan that no silo released."""
    disparity: DisparityResult
    magnitudes: MagnitudesResult
    thresholds: Parts[ThresholdResult]
    """Rates at the thresholds of the plan, and at those requested at the audit."""
    tails: Parts[TailResult]
    """Rates above quantiles of all records that were requested at the audit."""
    heterogeneity: HeterogeneityResult
    pairs: Parts[PairResult]
    decomposition: DecompositionResult
    attribution: AttributionResult
    silos: Parts[SiloResult]
    guarantee: Terms
    """The rules that every message says were applied."""
    warnings: tuple[AuditWarning, ...]
    software: str
    confidence: float
    """Of all intervals."""
    redraws: int
    seed: int
    curves: Curves
    """The laws of the groups and their center: what plots draw."""
    tables: Parts[TableResult]
    """By the groups and by each axis, where the plan has axes, unknown labels or an outcome."""
    federation: Federation | None = field(default=None, compare=False)
    unseen: Mapping[Group, float] | None = field(default=None, compare=False)
    """Upper bound on the further records of each group: withheld cells, silos that sent nothing."""

    signature: ResultSignature | None = None
    """Of the person who vouches for the result; it was verified when this object was built."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON has it."""
        return {**as_json(self), "signature": as_json(self.signature)}

    def signed(self, key: Ed25519PrivateKey) -> AuditResult:
        """Return the result with the signature of this key, which covers all of it."""
        return replace(self, signature=ResultSignature(**keyed_signature(self, key)))

    def unsigned_bytes(self) -> bytes:
        """Return the canonical bytes of the result with null for its signature."""
        return canonical_bytes({**self.to_dict(), "signature": None})

    def to_json(self) -> str:
        """Return the result as canonical JSON (RFC 8785): equal results give equal bytes."""
        return self.to_bytes().decode()

    def file_bytes(self) -> bytes:
        """Return what a file of the result holds: one line of JSON."""
        return self.to_bytes() + b"\n"

    @classmethod
    def read(cls, path: Path) -> AuditResult:
        """Return the result of a JSON file.

        Raises
        ------
        ResultError
            If it cannot be read, or is not a result.
        """
        data = read_bounded(path, limit=LARGEST, error=ResultError)
        try:
            return cls.from_dict(decode_object(data, deepest=_DEEPEST, error=ResultError))
        except ResultError as error:
            raise error.within(str(path)) from None

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> AuditResult:
        """Return the result of what :meth:`to_dict` returns.

        Raises
        ------
        ResultError
            If a field is missing, unknown, or holds something else, if two contradict, or if a
            signature does not fit.
        """
        if document.get("schema") != SCHEMA:
            raise ResultError.schema(SCHEMA, document.get("schema"))
        if "signature" not in document:
            raise ResultError.fields("the top", (), ("signature",))
        parts = {name: part for name, part in document.items() if name != "signature"}
        result = read_part(cls, parts, "the top")
        if document["signature"] is not None:
            signature = read_part(ResultSignature, document["signature"], "signature")
            check_result_signature(result, signature)
            result = replace(result, signature=signature)
        groups = [part.group for part in result.groups] + [part.group for part in result.set_aside]
        labels = {group_key(group): group for group in groups}
        result = replace(result, silos=Parts(relabeled(silo, labels) for silo in result.silos))
        check_result(result)
        return result

    def table_columns(self) -> Columns:
        """Return the columns of a table with one row for each silo: :meth:`to_frame` has it."""
        influence = [each.influence for each in self.attribution.silos]
        return {**self.silos.table_columns(), "influence": influence}

    def at_threshold(self, threshold: float, *, of: Whom = "answered") -> ThresholdReport:
        """Return selection rates and ratios at a threshold, with brackets and intervals.

        Parameters
        ----------
        threshold : float
        of : "answered" or "all"
            Among the silos and cells that answered, or of all, whatever the missing ones hold.

        Raises
        ------
        ResultError
            If the result was read from a file: the sketches are needed.
        """
        from fedparity.thresholds.rates import at_threshold  # noqa: PLC0415

        return at_threshold(
            self.sketches(),
            threshold,
            favorable=self.plan.favorable,
            confidence=self.confidence,
            **self._limits(of),
        )

    def at_quantile(self, level: float, *, of: Whom = "answered") -> TailReport:
        """Return the share of each group above a quantile of all records; 0.5 is the median.

        Options are those of :meth:`at_threshold`.

        Raises
        ------
        ResultError
            If the result was read from a file: the sketches are needed.
        """
        from fedparity.thresholds.tail_rates import tail_rates  # noqa: PLC0415

        return tail_rates(self.sketches(), level, confidence=self.confidence, **self._limits(of))

    def with_rates(
        self, *, thresholds: Iterable[float] = (), tails: Iterable[float] = ()
    ) -> AuditResult:
        """Return the result with the rates at further thresholds, and above further quantiles.

        Raises
        ------
        ResultError
            If the result was read from a file: the sketches are needed.
        """
        scores, levels = tuple(thresholds), tuple(tails)
        rated = self._rated(self.sketches(), self._limits("all"), scores, levels)
        tables = Parts(
            table
            if table.federation is None
            else table.with_rates(
                *self._rated(
                    table.federation,
                    {
                        **self._limits("answered"),
                        "unseen": table.unseen,
                        "unseen_others": table.unseen_others,
                    },
                    scores,
                    levels,
                )
            )
            for table in self.tables
        )
        at = {each.score: each for each in (*self.thresholds, *rated[0])}
        above = {each.level: each for each in (*self.tails, *rated[1])}
        return replace(
            self,
            thresholds=Parts(at[score] for score in sorted(at)),
            tails=Parts(above[level] for level in sorted(above)),
            tables=tables,
            signature=None,  # of another document
        )

    def _rated(
        self,
        federation: Federation,
        limits: Mapping[str, Any],
        thresholds: Iterable[float],
        tails: Iterable[float],
    ) -> tuple[tuple[ThresholdResult, ...], tuple[TailResult, ...]]:
        """The rates of a federation at thresholds, and above quantiles of its records."""
        from fedparity.thresholds.rates import threshold_results  # noqa: PLC0415
        from fedparity.thresholds.tail_rates import tail_results  # noqa: PLC0415

        known: dict[str, Any] = {"confidence": self.confidence, **limits}
        favorable = self.plan.favorable
        return (
            threshold_results(federation, thresholds, favorable=favorable, **known),
            tail_results(federation, tails, **known),
        )

    def ks_distance(self, first: Group, second: Group, *, of: Whom = "answered") -> Bracket:
        """Return the largest gap between the distribution functions of two groups.

        Options are those of :meth:`at_threshold`.

        Raises
        ------
        ResultError
            If the result was read from a file: the sketches are needed.
        """
        from fedparity.thresholds.tail_rates import ks_distance  # noqa: PLC0415

        limits = self._limits(of)
        return ks_distance(
            self.sketches(),
            first,
            second,
            score_range=limits["score_range"],
            unseen=limits["unseen"],
        )

    def _limits(self, of: Whom) -> dict[str, Any]:
        """What bounds of rates depend on besides the sketches."""
        if of not in get_args(Whom):
            raise OptionError.unknown("of", of, get_args(Whom))
        return {
            "score_range": self.plan.score_range,
            "unseen": self.unseen if of == "all" else None,
            "unseen_others": unseen_records(self.set_aside) if of == "all" else 0.0,
        }

    def sketches(self) -> Federation:
        """Return the federation that was measured.

        Raises
        ------
        ResultError
            If the result was read from a file.
        """
        if self.federation is None:
            raise ResultError(
                "this result was read from a file, which does not hold the sketches.",
                fix="run the audit again from the messages, and use its result.",
            )
        return self.federation

    def __repr__(self) -> str:
        worst, found = self.magnitudes.worst_pair, self.disparity.verdict
        lower, upper = worst.interval
        silos = f"{len(self.silos_received)} silo{'' if len(self.silos_received) == 1 else 's'}"
        codes = ", ".join(dict.fromkeys(warning.code for warning in self.warnings))
        warned = f", warnings: {codes}" if codes else ""
        return (
            f"AuditResult({worst.corrected:.4g} points ({lower:.4g} to {upper:.4g}) between "
            f"{worst.groups[0]!r} and {worst.groups[1]!r}, answered={found.answered!r}, "
            f"all={found.all!r}, {silos}{warned})"
        )

    def save_report(
        self,
        path: Path,
        *,
        overwrite: bool = False,
        author: str | None = None,
        date: str | None = None,
    ) -> str:
        """Write a report for people and return its path.

        Parameters
        ----------
        path : str or path
            Ends in ``.html`` (one page, all figures), ``.md`` (Markdown), ``.pdf`` or ``.xlsx`` (all
            tables).
        overwrite : bool
            Replace a file of this name.
        author : str, optional
            Of the report; the result does not know it.
        date : str, optional
            The day of the report, such as ``2026-11-18``; today if absent.

        Raises
        ------
        OutputError
            If the ending is another, the file exists and ``overwrite`` is not set, or it cannot be
            written.
        MissingExtraError
            If the format needs a package that is not installed.
        """
        from fedparity.report.formats import save_report  # noqa: PLC0415

        return save_report(self, path, overwrite=overwrite, author=author, date=date)

    def to_metrics(self) -> dict[str, float]:
        """Return the main numbers by flat names, as trackers of experiments take them.

        Names hold letters, digits, ``_``, ``-``, ``.`` and ``/`` only; the slashes group them in
        MLflow and W&B. A number that is not known, or not finite, is left out.

        Examples
        --------
        >>> import fedparity as fp
        >>> table = {"z": [0.1, 0.2, 0.6, 0.9], "g": ["a", "a", "b", "b"]}
        >>> metrics = fp.simulate(table, score="z", group="g", score_range=(0, 1)).to_metrics()
        >>> round(metrics["groups/a/mean"], 2), metrics["worst_pair/share_of_range"] > 0
        (0.15, True)
        """
        from fedparity.report.metrics import metrics  # noqa: PLC0415

        return metrics(self)

    def to_latex(self) -> str:
        r"""Return the tables of groups, rates, measures, pairs and silos for LaTeX.

        They use ``\toprule`` and the like: load the package ``booktabs``.
        """
        from fedparity.report.latex import latex_tables  # noqa: PLC0415

        return latex_tables(self)

    def _repr_html_(self) -> str:
        from fedparity.report.notebook import notebook_html  # noqa: PLC0415

        return notebook_html(self)


@dataclass(frozen=True, kw_only=True)
class Headline:
    """A number with its errors, its place in the result, and what a silo alone has instead of it."""

    found: Estimate
    at: tuple[str, ...]
    """Steps to it in the JSON of the result."""
    name: str
    """Of an axis."""
    symbol: str
    level: float | None
    """The review level on that axis; ``None`` without one, or if it has another unit."""
    alone: Literal["disparity", "wasserstein"]
    """The field of a silo that holds the same measure of the silo alone."""
    beside: Literal["corrected", "value"]
    """The field of ``found`` that is compared with what silos show alone.

    In points it is the number of the headline; a disparity is shown as the silos have theirs, with
    what noise adds on average.
    """

    @property
    def whole(self) -> float:
        """The number of all silos together that is compared with what silos show alone."""
        return self.found.value if self.beside == "value" else self.found.corrected

    @property
    def has_intervals(self) -> bool:
        """Whether what a silo shows alone has an interval.

        The interval of a silo is that of its disparity. It implies no interval for the largest
        distance of two groups: a disparity mixes all pairs, and weighs them by shares that are
        estimated too.
        """
        return self.alone == "disparity"

    @property
    def in_points(self) -> str:
        """What follows the number of a silo: its unit, or nothing for a disparity."""
        return "" if self.alone == "disparity" else " points"

    @property
    def column(self) -> str:
        """The heading of a column of what silos show alone."""
        return f"{self.symbol} alone{',' if self.in_points else ''}{self.in_points}"

    def of_silo(self, silo: SiloResult) -> float | None:
        """Return what a silo shows alone."""
        return silo.disparity if self.alone == "disparity" else silo.wasserstein


def headline_of(result: AuditResult) -> Headline:
    """Return the distance of the two groups furthest apart, or the disparity if that is reviewed.

    Examples
    --------
    >>> from fedparity import simulate
    >>> table = {"z": [1.0, 2.0, 3.0, 5.0], "g": ["a", "b", "a", "b"], "s": ["x", "x", "y", "y"]}
    >>> result = simulate(table, score="z", group="g", silo="s", score_range=(0, 9), levels=2)
    >>> headline_of(result).name
    'score points between the groups furthest apart'
    """
    review, unit = result.disparity.review_level, result.disparity.review_unit
    if unit == "squared":
        return Headline(
            found=result.disparity,
            at=("disparity",),
            name="disparity",
            symbol=symbol("G", result),
            level=review,
            alone="disparity",
            beside="value",
        )
    lowest, highest = result.plan.score_range
    scale = {"points": 1.0, "share": highest - lowest}.get(unit)
    return Headline(
        found=result.magnitudes.worst_pair,
        at=("magnitudes", "worst_pair"),
        name="score points between the groups furthest apart",
        symbol=symbol("W", result),
        level=None if review is None or scale is None else review * scale,
        alone="wasserstein",
        beside="corrected",
    )


def symbol(letter: str, result: AuditResult) -> str:
    """Return a measure's symbol with its order: ``G₂``."""
    return letter + "₁₂"[result.plan.order - 1]


def has_noise(result: AuditResult) -> bool:
    """Return whether noise was added for differential privacy."""
    return result.guarantee.get("mode") in NOISY_MODES
