"""A silo's table to its message: the function that a silo calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan
from fedparity.releasing.measuring import Effort
from fedparity.releasing.noisy import check_unweighted
from fedparity.releasing.permit import AnyLedger, AnyPolicy, Permit
from fedparity.releasing.release import check_silo, prepare
from fedparity.sketches.selection.dealing import Progress
from fedparity.sketches.selection.kernels import KernelName

__all__ = ["sketch"]


def sketch(
    data: object,
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
    memory: int | None = None,
    threads: int | None = None,
    kernel: KernelName = "auto",
    resolution: int = 4096,
    progress: Progress | None = None,
) -> SiloSketch:
    r"""Return the message that a silo would send under a plan: per group a count and k numbers.

    The plan's disclosure rules are applied, and the silo's own policy is obeyed. The message is entered
    into the ledger before it is returned. The same records under the same plan give the same
    message again; a second, different release of the same records is refused, and so is one that
    the policy does not allow.

    Parameters
    ----------
    data : path, frame, dict of arrays, or iterator of these
        A file (CSV, TSV, Parquet, Arrow), a folder or pattern of files, a dict of arrays, a frame of
        pandas, polars, Arrow, Dask, Ibis or PySpark, a table of a database (:class:`fedparity.DatabaseTable`),
        anything that exports an Arrow stream; or an iterator of any of these, which is read once.
    silo : str
        The name under which the silo answers.
    score, group : str
        Columns; several for ``group`` make intersections. If None, the columns named so.
    weight : str, optional
        Column of survey or exposure weights.
    where : str, optional
        A SQL condition; other rows are left out.
    mapping : mapping of str to str, optional
        Labels of the table that stand for another one, ``""`` for a missing one.
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
        Rules of the policy that the plan may be weaker than, by name; the ledger keeps them.
    again_because : str, optional
        Why a second release of the same records is acceptable; the ledger keeps it.
    in_period : bool
        Whether the rows are limited to the plan's period. Without it, the plan's period does not count.
    memory : int, optional
        Bytes of records that may be held; beyond, a file is scanned more than once. A quarter
        of the machine's memory if absent.
    threads, kernel
        Of no effect on the result.
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
    check_silo(plan, silo)
    check_unweighted(plan, weighted=weight is not None)
    permit = Permit.of(
        plan,
        silo,
        data=data,
        policy=policy,
        ledger=ledger,
        dataset=dataset,
        allow_weaker=allow_weaker,
        again_because=again_because,
        in_period=in_period,
    )
    permit.check()
    effort = Effort(
        memory=memory, threads=threads, kernel=kernel, resolution=resolution, progress=progress
    )
    release = prepare(
        data,
        plan=plan,
        silo=silo,
        score=score,
        group=group,
        weight=weight,
        where=where,
        mapping=mapping,
        missing=missing,
        other=other,
        effort=effort,
    ).replacing(permit.voided())
    release.record(permit)
    return release.sketch
