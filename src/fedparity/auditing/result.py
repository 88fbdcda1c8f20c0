"""The result of an audit: every number of ``fedparity/audit/1``, always present."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from fedparity.auditing.result_checks import check_agreement
from fedparity.auditing.result_curves import check_curves, check_silo_quantiles
from fedparity.auditing.result_parts import (
    AttributionResult,
    Curves,
    DecompositionResult,
    DisparityResult,
    GroupResult,
    HeterogeneityResult,
    MagnitudesResult,
    PairResult,
    PlanSummary,
    SetAside,
    SiloResult,
    TailResult,
    ThresholdResult,
    as_json,
    group_key,
)
from fedparity.auditing.result_reading import Amount, Terms, read_part
from fedparity.auditing.result_signature import ResultSignature, read_signature, sign_document
from fedparity.documents.audit_warnings import AuditWarning
from fedparity.documents.fields import FrozenMapping
from fedparity.documents.files import Path, read_bounded, write_whole
from fedparity.documents.json_text import LARGEST, canonical_bytes, decode_object
from fedparity.errors import OptionError, ResultError
from fedparity.federated.federation import Federation
from fedparity.laws.labels import Group
from fedparity.thresholds.at_threshold import ThresholdReport, at_threshold
from fedparity.thresholds.tail_rates import TailReport, tail_rates

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from fedparity.uncertainty.brackets import Bracket

__all__ = [
    "SCHEMA",
    "AuditResult",
    "silo_frame",
]

_BACKENDS = ("pandas", "polars", "pyarrow")


def silo_frame(result: AuditResult, backend: str | None) -> Any:  # noqa: ANN401
    """Return one row per silo, as a native table of ``backend``."""
    import narwhals as nw  # noqa: PLC0415 -- 40 ms, and only here

    columns = _columns(result)
    schema = {name: _dtype(values) for name, values in columns.items()}
    frame = nw.from_dict(columns, schema, backend=_chosen(backend))  # type: ignore[arg-type]
    return frame.to_native()


def _columns(result: AuditResult) -> dict[str, list[Any]]:
    influence = {each.silo: each.influence for each in result.attribution.silos}
    columns: dict[str, list[Any]] = {"silo": [silo.silo for silo in result.silos]}
    for each in result.groups:
        columns[f"n {group_key(each.group)}"] = [silo.n[each.group] for silo in result.silos]
    for name in ("disparity", "heterogeneity", "wasserstein", "mean_gap"):
        columns[name] = [getattr(silo, name) for silo in result.silos]
    for name, end in (("interval_lower", 0), ("interval_upper", 1)):
        columns[name] = [silo.interval and silo.interval[end] for silo in result.silos]
    columns["influence"] = [influence[silo.silo] for silo in result.silos]
    columns["note"] = [silo.note for silo in result.silos]
    return columns


def _dtype(values: list[Any]) -> Any:  # noqa: ANN401
    """Text, whole numbers where all are known, floats where some are missing."""
    import narwhals as nw  # noqa: PLC0415

    kinds = {type(value) for value in values}
    if kinds == {str}:
        return nw.String
    return nw.Int64 if kinds == {int} else nw.Float64


def _chosen(backend: str | None) -> str:
    if backend is not None:
        if backend not in _BACKENDS:
            raise OptionError.unknown("backend", backend, _BACKENDS)
        if find_spec(backend) is None:
            raise ResultError.no_frames()
        return backend
    for name in _BACKENDS:
        if name in sys.modules:
            return name
    for name in _BACKENDS:
        if find_spec(name) is not None:
            return name
    raise ResultError.no_frames()


SCHEMA: Final = "fedparity/audit/1"
Whom: TypeAlias = Literal["answered", "all"]
"""Whom rates speak of: those who answered, or all, whatever the missing ones hold."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditResult:
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
    groups: tuple[GroupResult, ...]
    """The groups that were measured, in the order of the plan."""
    set_aside: tuple[SetAside, ...]
    """The groups of the plan that no silo released."""
    disparity: DisparityResult
    magnitudes: MagnitudesResult
    thresholds: tuple[ThresholdResult, ...]
    """Rates at the thresholds of the plan, and at those asked for at the audit."""
    tails: tuple[TailResult, ...]
    """Rates above quantiles of all records that were asked for at the audit."""
    heterogeneity: HeterogeneityResult
    pairs: tuple[PairResult, ...]
    decomposition: DecompositionResult
    attribution: AttributionResult
    silos: tuple[SiloResult, ...]
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
    federation: Federation | None = field(default=None, compare=False)
    unseen: Mapping[Group, float] | None = field(default=None, compare=False)
    """At most so many further records of each group: withheld cells, silos that sent nothing."""

    signature: ResultSignature | None = None
    """Of whoever vouches for the result; it fits, or there would be no such object."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON has it."""
        return {**as_json(self), "signature": as_json(self.signature)}

    def signed(self, key: Ed25519PrivateKey) -> AuditResult:
        """Return the result with the signature of this key, which covers all of it."""
        return replace(self, signature=sign_document(self.to_dict(), key))

    def to_json(self) -> str:
        """Return the result as canonical JSON (RFC 8785): equal results give equal bytes."""
        return canonical_bytes(self.to_dict()).decode()

    def write(self, path: Path, *, force: bool = False) -> None:
        """Write the JSON to a file, whole or not at all.

        Raises
        ------
        OutputError
            If the file exists and ``force`` is not set, or if it cannot be written.
        """
        write_whole(path, f"{self.to_json()}\n".encode(), force=force)

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
            return cls.from_dict(decode_object(data, error=ResultError))
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
        signature = read_signature(document)
        measured = [each.group for each in result.groups]
        asked = [*measured, *(each.group for each in result.set_aside)]
        labels = {group_key(group): group for group in asked}
        silos = tuple(_relabelled(silo, labels) for silo in result.silos)
        check_curves(result.curves, measured)
        result = replace(result, silos=silos, signature=signature)
        check_agreement(result)
        return result

    def to_frame(self, backend: str | None = None) -> Any:  # noqa: ANN401 -- of any library
        """Return one row per silo, as a pandas, polars or pyarrow table.

        Parameters
        ----------
        backend : "pandas", "polars" or "pyarrow", optional
            One that is loaded or installed, in this order, if absent.
        """
        return silo_frame(self, backend)

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
        at = {each.threshold: each for each in self.thresholds}
        above = {each.level: each for each in self.tails}
        for score in thresholds:
            found, everyone = (self.at_threshold(score, of=of) for of in get_args(Whom))
            at[found.threshold] = ThresholdResult(**vars(found), all=everyone.four_fifths)
        for level in tails:
            share, of_all = (self.at_quantile(level, of=of) for of in get_args(Whom))
            above[share.level] = TailResult(**vars(share), all=of_all.four_fifths)
        return replace(
            self,
            thresholds=tuple(at[score] for score in sorted(at)),
            tails=tuple(above[level] for level in sorted(above)),
            signature=None,  # of another document
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

        return ks_distance(self.sketches(), first, second, **self._limits(of))

    def _limits(self, of: Whom) -> dict[str, Any]:
        """What bounds of rates depend on besides the sketches."""
        if of not in get_args(Whom):
            raise OptionError.unknown("of", of, get_args(Whom))
        return {
            "score_range": self.plan.score_range,
            "unseen": self.unseen if of == "all" else None,
        }

    def sketches(self) -> Federation:
        """Return the federation that was measured.

        Raises
        ------
        ResultError
            If the result was read from a file.
        """
        if self.federation is None:
            raise ResultError.without_sketches()
        return self.federation

    def __repr__(self) -> str:
        worst, found = self.magnitudes.worst_pair, self.disparity.verdict
        lower, upper = worst.interval
        silos = f"{len(self.silos_received)} silo{'' if len(self.silos_received) == 1 else 's'}"
        return (
            f"AuditResult({worst.corrected:.4g} points ({lower:.4g} to {upper:.4g}) between "
            f"{worst.groups[0]!r} and {worst.groups[1]!r}, answered={found.answered!r}, "
            f"all={found.all!r}, {silos})"
        )

    def save_report(self, path: Path, *, force: bool = False) -> str:
        """Write a report for people and return its path.

        Parameters
        ----------
        path : str or path
            Ends in ``.html`` (one page, all figures), ``.md`` (Markdown) or ``.pdf`` (one sheet).
        force : bool
            Replace a file of this name.

        Raises
        ------
        OutputError
            If the ending is another, the file exists and ``force`` is not set, or it cannot be
            written.
        MissingExtraError
            If the format needs a package that is not installed.
        """
        saved: str = _report("formats").save_report(self, path, force=force)
        return saved

    def _repr_html_(self) -> str:
        shown: str = _report("notebook").notebook_html(self)
        return shown


def _report(module: str) -> ModuleType:
    """A module of reports: they are a layer above, so they are looked up when asked for."""
    return import_module(f"fedparity.report.{module}")


def _relabelled(silo: SiloResult, labels: Mapping[str, Group]) -> SiloResult:
    """The same silo with its fields by label instead of by the label's text."""
    check_silo_quantiles(silo)
    kept: dict[str, Any] = {}
    for name in ("n", "levels", "withheld", "quantiles"):
        by_text: Mapping[str, Any] = getattr(silo, name)
        for key in by_text:
            if key not in labels:
                raise ResultError.field(f"{name} of a silo", "an object with the groups", key)
        kept[name] = FrozenMapping({labels[key]: value for key, value in by_text.items()})
    return replace(silo, **kept)
