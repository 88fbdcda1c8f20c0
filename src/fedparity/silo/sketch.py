"""A silo's table to its message: the function that a silo calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.errors import OptionError, PrivacyError, TableError
from fedparity.laws.progress import RowProgress
from fedparity.modes.mode import Release, mode_of
from fedparity.silo.permit import AnyLedger, AnyPolicy, Permit
from fedparity.sketches.passes import KernelName
from fedparity.sketches.select import ComputeOptions
from fedparity.tables.opening import label_columns, open_records, planned_records
from fedparity.tables.table import TableRecords

__all__ = ["Sketcher", "prepare", "preview", "sketch"]


def sketch(
    data: object,
    *,
    plan: Plan,
    silo: str,
    score: str | None = None,
    group: str | Sequence[str] | None = None,
    axes: Mapping[str, str] | None = None,
    outcome: str | None = None,
    weight: str | None = None,
    where: str | None = None,
    mapping: Mapping[str, str] | None = None,
    missing: Literal["refuse", "drop"] = "refuse",
    other: str | None = None,
    policy: AnyPolicy = None,
    ledger: AnyLedger = None,
    dataset: str | None = None,
    allow_weaker: Sequence[str] = (),
    again_because: str | None = None,
    in_period: bool = False,
    memory: int | None = None,
    threads: int | None = None,
    kernel: KernelName = "auto",
    resolution: int = 4096,
    progress: RowProgress | None = None,
) -> SiloSketch:
    r"""Return the message that a silo would send under a plan: per group a count and k numbers.

    The plan's disclosure rules are applied, and the silo's own policy is obeyed. The message is entered
    into the ledger before it is returned. The same records under the same plan give the same
    message again; a second, different release of the same records is refused, and so is one that
    the policy does not allow.

    Parameters
    ----------
    data : path, frame, dict of arrays, or iterator of these
        A file (CSV, TSV, Excel, Parquet, Arrow), a folder or pattern of files, a file that is written in another way
        (:class:`fedparity.FileTable`), a dict of arrays, a frame of pandas, polars, Arrow, Dask, Ibis or PySpark, a table of a database (:class:`fedparity.DatabaseTable`),
        anything that exports an Arrow stream; or an iterator of any of these, which is read once.
    silo : str
        The name under which the silo answers.
    score, group : str
        Columns; several for ``group`` make intersections. If None, the columns named so.
    axes : mapping of str to str
        The column of each axis of the plan; the column of the axis's name where it is not listed.
    outcome : str, optional
        The column of the outcome, if the plan requests one; ``outcome`` if absent.
    weight : str, optional
        Column of survey or exposure weights.
    where : str, optional
        A SQL condition; other rows are left out.
    mapping : mapping of str to str, optional
        Labels of the table that are read as another one; the key ``""`` is a missing label.
    missing : {"refuse", "drop"}
        What to do about rows without a score; the number dropped is in the message.
    other : str, optional
        The group that takes every label that the plan does not list.
    policy : path, optional
        The silo's policy; if None, ``$FEDPARITY_POLICY``, that in the user's folder for
        configuration, or the default one.
    ledger : path, False or None
        Where the release is entered; if None, the ledger of the policy, or that of the user. False
        enters it nowhere: for simulations and tests. A policy may forbid that.
    dataset : str, optional
        Which data set of the policy the records are, where it does not follow from their path.
    allow_weaker : sequence of str
        Names of rules of the policy that the plan may fall below; the ledger records them.
    again_because : str, optional
        Why a second release of the same records is acceptable; the ledger records it.
    in_period : bool
        Whether the rows are limited to the plan's period. Without it, the plan's period does not count.
    memory : int, optional
        Bytes of records that may be cached; a larger file is scanned more than once. A quarter
        of the machine's memory if absent.
    threads, kernel
        Implementation to use; the result is the same.
    resolution : int
        Only where records come once: more values, smaller rank error.
    progress : function of (rows, rows in all or None, what is done), optional

    Raises
    ------
    RuleError
        If the policy does not allow the plan.
    LedgerError, BudgetError
        If the ledger refuses the release.

    Examples
    --------
    >>> plan = Plan(title="Q4", groups=("A", "B"), score_range=(0, 1), levels=2)
    >>> table = {"z": [0.1, 0.2, 0.3, 0.4] * 10, "race": ["A", "B"] * 20}
    >>> sketch(table, plan=plan, silo="aurora", score="z", group="race", ledger=False).cells[1]
    SketchedCell('B', count=20, levels=2)
    """
    mode_of(plan).check(silo, weighted=weight is not None)
    reading: dict[str, Any] = {
        "score": score,
        "group": group,
        "axes": axes,
        "outcome": outcome,
        "weight": weight,
        "where": where,
        "mapping": mapping,
        "missing": missing,
        "other": other,
    }
    permit = Permit.of(
        plan,
        silo,
        data=data,
        reading=reading,
        policy=policy,
        ledger=ledger,
        dataset=dataset,
        allow_weaker=allow_weaker,
        again_because=again_because,
        in_period=in_period,
    )
    permit.check()
    options = ComputeOptions(
        memory=memory, threads=threads, kernel=kernel, resolution=resolution, progress=progress
    )
    release = prepare(data, plan=plan, silo=silo, options=options, **reading)
    release = release.replacing(permit.voided())
    permit.record(release.sketch, rows=release.rows)
    return release.sketch


def prepare(
    data: object,
    *,
    plan: Plan,
    silo: str,
    options: ComputeOptions | None = None,
    **reading: Any,  # noqa: ANN401 -- as planned_records takes them
) -> Release:
    """Read a silo's table and return what it would release under a plan; nothing is written.

    ``reading`` are columns, filter and map, as :func:`fedparity.sketch` takes them. Under a plan with noise
    every call draws anew: only one of them may leave.
    """
    mode = mode_of(plan)
    mode.check(silo, weighted=reading.get("weight") is not None)
    records = planned_records(data, plan, **reading)
    with _explained(plan, records):
        return mode.release(records, silo, options)


def preview(
    data: object,
    *,
    plan: Plan,
    silo: str,
    options: ComputeOptions | None = None,
    **reading: Any,  # noqa: ANN401 -- as planned_records takes them
) -> object:
    """Read a silo's table as :func:`prepare` does, and return what may be shown of what would leave.

    No noise is drawn. The records are counted, so that a mistake in them is found.
    """
    mode = mode_of(plan)
    mode.check(silo, weighted=reading.get("weight") is not None)
    records = planned_records(data, plan, **reading)
    with _explained(plan, records):
        return mode.preview(records, silo, options)


def _explained(plan: Plan, records: TableRecords) -> AbstractContextManager[None]:
    """Name all faults of the rows in one error; in a privacy mode not even their number is said."""
    return nullcontext() if mode_of(plan).protected else records.explained(plan.score_range)


class Sketcher:
    r"""A silo's sketch under a plan, from batches that come once.

    A cursor, a queue, a stream: pass every batch to :meth:`update`, and get the message from
    :meth:`finish`. Records are gathered into chunks of four million; up to one chunk the sketch is
    exact, and so are counts at the points of a score. Beyond, chunks are merged as an auditor merges silos, with an error of the distribution
    function of at most :math:`1/(2m)` for each time that records were summarized; the error is in
    the message and widens the auditor's bounds.

    Sketchers can be pickled and merged, so that several workers can each take a part.

    Parameters
    ----------
    plan : Plan
    silo : str
        The name under which the silo answers.
    score, group, axes, outcome, weight, where, mapping, missing, other
    policy, ledger, dataset, allow_weaker, again_because, in_period
        As for :func:`fedparity.sketch`.
    resolution : int, default 4096
        The m of the error.

    Examples
    --------
    >>> plan = Plan(title="Q4", groups=("A", "B"), score_range=(0, 1), levels=2)
    >>> sketcher = Sketcher(plan=plan, silo="aurora", score="z", group="race", ledger=False)
    >>> for _ in range(10):
    ...     sketcher.update({"z": [0.1, 0.2, 0.3, 0.4], "race": ["A", "B", "A", "B"]})
    >>> sketcher.finish().cells[1]
    SketchedCell('B', count=20, levels=2)
    """

    def __init__(
        self,
        *,
        plan: Plan,
        silo: str,
        score: str | None = None,
        group: str | Sequence[str] | None = None,
        axes: Mapping[str, str] | None = None,
        outcome: str | None = None,
        weight: str | None = None,
        where: str | None = None,
        mapping: Mapping[str, str] | None = None,
        missing: Literal["refuse", "drop"] = "refuse",
        other: str | None = None,
        policy: AnyPolicy = None,
        ledger: AnyLedger = None,
        dataset: str | None = None,
        allow_weaker: Sequence[str] = (),
        again_because: str | None = None,
        in_period: bool = False,
        resolution: int = 4096,
    ) -> None:
        self._plan, self._silo, self._mode = plan, silo, mode_of(plan)
        self._mode.check(silo, weighted=weight is not None)
        self._options: dict[str, Any] = {
            "score": score,
            "group": label_columns(plan, group=group, axes=axes, outcome=outcome),
            "groups": plan.record_labels,
            "weight": weight,
            "where": where,
            "mapping": mapping,
            "missing": missing,
            "other": other,
        }
        self._permit = Permit.of(
            plan,
            silo,
            data=None,
            reading=self._options,
            policy=policy,
            ledger=ledger,
            dataset=dataset,
            allow_weaker=allow_weaker,
            again_because=again_because,
            in_period=in_period,
        )
        self._permit.check()
        self._message: SiloSketch | None = None
        self._columns: tuple[str, ...] = ()
        self._stream: Any = self._mode.stream(weighted=weight is not None, resolution=resolution)

    def update(self, batch: object) -> None:
        """Take the rows of a batch: any table that :func:`fedparity.sketch` takes.

        Raises
        ------
        PrivacyError
            If noise was drawn already.
        """
        self._refuse_if_drawn()
        records = self._open(batch)
        self._columns = tuple(records.table.columns)
        for task in records.batches():
            self._stream.update(task())

    def merge(self, other: Sketcher) -> None:
        """Take what another sketcher of the same plan and silo has gathered.

        Raises
        ------
        OptionError
            If it was made with other options.
        """
        self._refuse_if_drawn()
        other._refuse_if_drawn()
        mine = (self._plan, self._silo, self._options)
        if mine != (other._plan, other._silo, other._options):
            raise OptionError(
                "sketchers that are merged must have the same plan, silo and columns.",
                fix="make every worker's sketcher with the same options.",
            )
        self._stream.merge(other._stream)
        self._columns = self._columns or other._columns

    def finish(self) -> SiloSketch:
        """Return the message; the plan's disclosure rules are applied.

        It is entered into the ledger once. Under a plan with noise the noise is drawn once, too: asked
        again, this returns the same message.

        Raises
        ------
        TableError, LabelError, ScoreError
            If there was no row, or one that may not be dropped.
        LedgerError, BudgetError
            If the ledger refuses the message.
        """
        if self._message is not None:
            return self._message
        if not self._columns:
            raise TableError.empty("the stream")
        records = self._open({name: [] for name in self._columns})
        release = self._mode.finish(
            self._stream, self._silo, records.judge, weighted=records.weighted
        ).replacing(self._permit.voided())
        self._permit.record(release.sketch, rows=release.rows)
        if self._mode.protected:
            self._message = release.sketch
        return release.sketch

    def _refuse_if_drawn(self) -> None:
        if self._message is not None:
            raise PrivacyError(
                "the noisy message was drawn already: records that come now would need a second "
                "one, and two messages protect less than one.",
                fix="give every batch before finish(), or start a new sketcher under a new plan.",
            )

    def _open(self, batch: object) -> TableRecords:
        return open_records(batch, **self._options)
