"""What a privacy mode is: everything that depends on how a plan protects single records.

A plan without ``[privacy]`` requests plain sketches; the others request noisy histograms, or sums over the
silos. Whatever differs between them is a method of :class:`Mode`, so that silos, engines, audits and the
command line are written once. To add a mode: write its terms (:mod:`fedparity.documents.privacy_terms`), a
class in a module of this package, and a line in :func:`mode_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from fedparity.documents.files import Path
from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.laws.labels import Group
from fedparity.laws.progress import LabeledProgress
from fedparity.privacy.disclosure import Decision
from fedparity.sketches.records import Faults, Records, RowCounts
from fedparity.sketches.select import ComputeOptions, Strategy
from fedparity.text import counted, named, number

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from fedparity.documents.audit_warnings import AuditWarning
    from fedparity.documents.plan_fields import PlanTable
    from fedparity.documents.result_parts import SetAside
    from fedparity.federated.federation import Federation
    from fedparity.federated.local_audits import Measures
    from fedparity.modes.atom_histograms import AtomHistograms
    from fedparity.uncertainty.assessment import Assessment

__all__ = [
    "AuditOptions",
    "Cost",
    "Description",
    "Exchange",
    "ExecutionInfo",
    "Measured",
    "MissingRecords",
    "Mode",
    "Release",
    "SiloMessage",
    "StepName",
    "ended",
    "mode_of",
    "plan_sections",
    "review_words",
]

StepName: TypeAlias = Literal["sketch", "keys", "shares", "mask", "consent", "unmask"]
"""The one step of a sketch; then those of a secure sum, in their order."""


class SiloMessage(Protocol):
    """A message of one silo."""

    @property
    def silo(self) -> str:
        """Who sent it."""
        ...


Member = TypeVar("Member")
Message = TypeVar("Message", bound=SiloMessage)


@dataclass(frozen=True, kw_only=True)
class ExecutionInfo:
    """How a sketch was computed: for the operator alone, since the result is the same."""

    strategy: Strategy
    kernel: str
    passes: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """What would leave a silo, with what only its operator may see."""

    sketch: SiloSketch
    """The message: all that leaves."""
    decisions: Mapping[Group, Decision]
    """What the disclosure rules decided for each group, and why."""
    records: Mapping[Group, int]
    """True numbers of records; they stay in the building. Empty in a privacy mode."""
    execution: ExecutionInfo
    rows: RowCounts | None = None
    """What became of the rows of the table; it stays in the building. None in a privacy mode."""

    def signed(self, key: Ed25519PrivateKey) -> Release:
        """Return the same release with its message signed."""
        from fedparity.documents.signing import sign  # noqa: PLC0415 -- for those who sign

        return replace(self, sketch=sign(self.sketch, key))

    def replacing(self, message: str | None) -> Release:
        """Return the same release, marked as the replacement of a message that was voided."""
        if message is None:
            return self
        return replace(self, sketch=replace(self.sketch, replaces=message))


@dataclass(frozen=True)
class Cost:
    """What a release costs the records in privacy loss; None without noise."""

    epsilon: float | None = None
    budget: float | None = None


class Exchange(Protocol[Member]):
    """The transport of messages between the auditor and the silos."""

    def ask(
        self,
        step: StepName,
        read: Callable[[bytes], Message],
        *,
        members: Iterable[Member] | None = None,
        messages: Sequence[Any] = (),
        needed: int | None = None,
    ) -> dict[Member, Message]:
        """Request the message of a step from silos, and return the valid ones.

        ``members`` are all if absent; ``needed`` is the quorum if absent. ``messages`` are those of other
        silos that the step needs. ``read`` decodes and checks a message.
        """
        ...

    def publish(self, step: str, message: Any) -> None:  # noqa: ANN401 -- any document
        """Keep a message of the auditor's own among those of the silos."""
        ...


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """How the uncertainty of an audit is computed."""

    confidence: float = 0.95
    seed: int = 0
    redraws: int | None = None
    progress: LabeledProgress | None = None

    def assessment(self) -> dict[str, Any]:
        """Return these as :func:`fedparity.assess` takes them."""
        progress = self.progress
        return {
            "confidence": self.confidence,
            "seed": self.seed,
            "redraws": self.redraws,
            "progress": None
            if progress is None
            else (lambda done, total: progress(done, total, "redrawing")),
        }


@dataclass(frozen=True, kw_only=True)
class MissingRecords:
    """Records that exist, or may exist, and that no message describes."""

    silos_missing: tuple[str, ...]
    """Silos that the plan names and that sent nothing."""
    withheld: int
    """Cells that were withheld."""
    most: Mapping[Group, float]
    """An upper bound of the missing records of each group; ``math.inf`` without a limit."""
    total: float
    """An upper bound of the missing records of all groups together."""
    contradicted: tuple[str, ...] = ()
    """Silos that released more records than their public total."""

    def of(self, groups: Sequence[Group]) -> dict[Group, float]:
        """Return the upper bounds of those of these groups that may have missing records."""
        return {group: self.most[group] for group in groups if self.most[group]}


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """All results from the messages of silos."""

    silos: tuple[str, ...]
    """Those whose records are in the numbers."""
    messages: Sequence[SiloSketch]
    """What each of them said; none where only a sum over them is seen."""
    missing: MissingRecords
    unreleased: tuple[SetAside, ...]
    federation: Federation
    """The records seen, as the result holds them and rates at a threshold read them."""
    known: Federation
    """The records seen, with the errors that certificates of magnitudes count."""
    measures: Measures
    """Of the records seen."""
    by_silo: Measures
    """The same with one cell for each silo and group; they mean nothing where there are no messages."""
    assessment: Assessment
    guarantee: Mapping[str, Any]
    warnings: tuple[AuditWarning, ...] = ()
    """Those that come first."""
    table: PlanTable | None = None
    """The table by axis that the records are grouped by where the plan's groups cannot be compared."""
    atoms: AtomHistograms | None = None
    """Where records are counted in bins, of a plan with axes or an outcome: what its tables are made of."""


@dataclass(frozen=True, kw_only=True)
class Description:
    """What a plan means in its mode, in sentences for people who have to agree to it."""

    sent: list[str]
    """What each silo will send."""
    held_back: list[str]
    """What it will hold back."""
    estimator: str
    """What the disparity is computed from, or how."""
    sources: str
    """What the auditor learns of where a disparity comes from."""


class Mode(Protocol):
    """The privacy mode of one plan."""

    @property
    def plan(self) -> Plan:
        """The plan."""
        ...

    @property
    def name(self) -> str:
        """As policies and ledgers call it: ``none``, ``dp``, ``secure`` or ``secure+dp``."""
        ...

    @property
    def in_rounds(self) -> bool:
        """Whether silos exchange several messages; each sends one sketch otherwise."""
        ...

    @property
    def protected(self) -> bool:
        """Whether nothing exact may be learned of a silo's table, not even why it does not answer."""
        ...

    @property
    def levels(self) -> int:
        """How many levels, or bins, a result states."""
        ...

    @property
    def most_values(self) -> int:
        """How many values a cell has unless the rules cut it."""
        ...

    @property
    def fewest_silos(self) -> int:
        """Without how many silos there can be no result."""
        ...

    @property
    def cost(self) -> Cost:
        """What a release costs in privacy loss."""
        ...

    @property
    def view(self) -> list[float | None]:
        """What the ledger compares of two plans: at which scores they see the records."""
        ...

    def check(self, silo: str, *, weighted: bool) -> None:
        """Raise if a silo may not answer the plan with one message of its own.

        Raises
        ------
        MessageError
            If the roster does not list it.
        PrivacyError
            If the mode has no such messages, or the records have weights that it cannot protect.
        """
        ...

    def release(
        self, records: Records, silo: str, options: ComputeOptions | None = None
    ) -> Release:
        """Return what a silo with these records would send; noise is drawn here, if any is."""
        ...

    def preview(
        self, records: Records, silo: str, options: ComputeOptions | None = None
    ) -> object:
        """Read the records as :meth:`release` does, and return what may be shown beforehand."""
        ...

    def stream(self, *, weighted: bool, resolution: int) -> Any:  # noqa: ANN401 -- each has its own
        """Return an accumulator of records that are read once, batch by batch; it can be pickled and merged."""
        ...

    def finish(
        self,
        stream: Any,  # noqa: ANN401 -- as stream() made it
        silo: str,
        accept: Callable[[Faults], RowCounts],
        *,
        weighted: bool,
    ) -> Release:
        """Return what a silo whose records a stream has gathered would send."""
        ...

    def collect(self, exchange: Exchange[Any]) -> list[Any]:
        """Request the messages of the silos, and return all of them."""
        ...

    def measure(self, messages: Iterable[Any | Path], options: AuditOptions) -> Measured:
        """Read and check the messages of the silos, and measure the disparity from them.

        Raises
        ------
        MessageError
            If a message is not valid, does not answer the plan, or comes twice.
        GroupError
            If fewer than two groups can be compared.
        """
        ...

    def describe(self) -> Description:
        """Return what the plan means, in sentences."""
        ...

    def guarantee(self) -> dict[str, Any]:
        """Return the terms of the plan as a result states them, with what they do not protect."""
        ...


def mode_of(plan: Plan) -> Mode:
    """Return the privacy mode of a plan: the one place where it is chosen.

    Examples
    --------
    >>> mode_of(Plan(title="Q4", groups=("A", "B"), score_range=(0, 1))).name
    'none'
    """
    name = "none" if plan.privacy is None else plan.privacy.mode
    # Imported where they are chosen: a silo of one mode needs nothing of the others.
    match name:
        case "none":
            from fedparity.modes.plain import PlainMode  # noqa: PLC0415

            return PlainMode(plan)
        case "dp":
            from fedparity.modes.noisy import NoisyMode  # noqa: PLC0415

            return NoisyMode(plan)
        case _:
            from fedparity.modes.secure.secure_mode import SecureMode  # noqa: PLC0415

            return SecureMode(plan)


def plan_sections(plan: Plan) -> dict[str, list[str]]:
    """Return what is sent, what is held back and what is computed, by heading.

    Examples
    --------
    >>> list(plan_sections(Plan(title="Q4", groups=("A", "B"), score_range=(0, 1))))
    ['Each silo will send', 'It will hold back', 'The auditor will compute']
    """
    described = mode_of(plan).describe()
    sent = described.sent
    if plan.keys:
        sent = [*sent, f"signed: {counted(len(plan.keys), 'silo')} with a public key."]
    return {
        "Each silo will send": sent,
        "It will hold back": ended(described.held_back),
        "The auditor will compute": _computed(plan, described),
    }


def ended(sentences: list[str]) -> list[str]:
    """Return the parts of a list with a full stop after the last."""
    return [*sentences[:-1], sentences[-1][:-1] + "."]


def review_words(plan: Plan) -> str:
    """Return the review level with its unit."""
    level = number(plan.review_level or 0.0)
    if plan.review_unit == "squared":
        return f"a disparity G of {level}"
    unit = {
        "points": "score points",
        "share": "of the score range",
        "sd": "standard deviations of the score",
    }[plan.review_unit]
    return f"{level} {unit} between the two groups furthest apart"


def _computed(plan: Plan, described: Description) -> list[str]:
    order = "₁₂"[plan.order - 1]
    sentences = [
        (
            f"the disparity G{order} of all silos together ({described.estimator}), its interval, "
            f"{described.sources};"
        )
    ]
    if plan.trim:
        sentences.append(f"without a share of {number(plan.trim)} of the levels at each end;")
    if plan.review_level is None:
        sentences.append("no verdict: the plan names no review level;")
    else:
        sentences.append(
            f"a verdict: below or above the review level, {review_words(plan)}, or inconclusive;"
        )
    if plan.silos is None:
        sentences.append("from whichever silos answer: the plan has no roster.")
    else:
        count = counted(len(plan.silos), "silo")
        sentences.append(f"from {count} ({named(list(plan.silos))}); missing ones are reported.")
    return sentences
