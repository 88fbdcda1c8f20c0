"""A sketch that grows batch by batch, where the data can be read only once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from fedparity.errors import OptionError, PrivacyError, TableError
from fedparity.privacy.histograms import GridTally
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan
from fedparity.releasing.cells import asked_of
from fedparity.releasing.measuring import Measured
from fedparity.releasing.noisy import check_unweighted
from fedparity.releasing.permit import AnyLedger, AnyPolicy, Permit
from fedparity.releasing.release import Levels, check_silo, release_counts, released
from fedparity.sketches.streaming import StreamSketch
from fedparity.sources.opening import open_records
from fedparity.sources.reader import TableRecords

__all__ = ["Sketcher"]


class Sketcher:
    r"""A silo's sketch under a plan, from batches that come once.

    A cursor, a queue, a stream: give every batch to :meth:`update` and ask for the message with
    :meth:`finish`. Records are gathered into chunks of four million; up to one chunk the sketch is
    exact, and so are counts at the points of a score. Beyond, chunks are merged as an auditor merges silos, with an error of the distribution
    function of at most :math:`1/(2m)` for each time that records were summarised; the error is in
    the message and widens the auditor's bounds.

    Sketchers can be pickled and merged, so that several workers can each take a part.

    Parameters
    ----------
    plan : Plan
    silo : str
        The name under which the silo answers.
    score, group, weight, where, mapping, missing, other
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
        check_silo(plan, silo)
        check_unweighted(plan, weighted=weight is not None)
        self._plan, self._silo = plan, silo
        self._permit = Permit.of(
            plan,
            silo,
            data=None,
            policy=policy,
            ledger=ledger,
            dataset=dataset,
            allow_weaker=allow_weaker,
            again_because=again_because,
            in_period=in_period,
        )
        self._permit.check()
        self._message: SiloSketch | None = None
        self._options: dict[str, Any] = {
            "score": score,
            "group": group,
            "groups": plan.groups,
            "weight": weight,
            "where": where,
            "mapping": mapping,
            "missing": missing,
            "other": other,
        }
        self._columns: tuple[str, ...] = ()
        self._stream: StreamSketch | GridTally = (
            StreamSketch(
                groups=plan.groups,
                asked=asked_of(plan),
                weighted=weight is not None,
                resolution=resolution,
                score_range=plan.score_range,
            )
            if plan.privacy is None
            else GridTally(len(plan.groups), plan.grid)
        )

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
        alike = mine == (other._plan, other._silo, other._options)
        if not (alike and _merged(self._stream, other._stream)):
            raise OptionError(
                "sketchers that are merged must have the same plan, silo and columns.",
                fix="make every worker's sketcher with the same options.",
            )
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
        if isinstance(self._stream, GridTally):
            counts = self._stream.finish(records.judge)
            release = release_counts(counts, plan=self._plan, silo=self._silo)
        else:
            levels = Levels(self._plan, self._silo, weighted=records.weighted)
            selected, errors = self._stream.finish(levels, records.judge)
            found = Measured(selected=selected, rank_errors=errors, way="one pass")
            release = released(levels, found)
        release = release.replacing(self._permit.voided())
        release.record(self._permit)
        if self._plan.privacy is not None:
            self._message = release.sketch
        return release.sketch

    def _refuse_if_drawn(self) -> None:
        if self._message is not None:
            raise PrivacyError.finished()

    def _open(self, batch: object) -> TableRecords:
        return open_records(batch, **self._options)


def _merged(mine: StreamSketch | GridTally, other: StreamSketch | GridTally) -> bool:
    """Let one take what the other has gathered; False if they gather different things."""
    if type(mine) is not type(other):
        return False
    mine.merge(other)  # type: ignore[arg-type]  # of the same type
    return True
