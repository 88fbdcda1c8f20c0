"""A silo's table to its message: the function that a silo calls."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from fedparity.privacy.ledger import Ledger, default_ledger_path
from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan
from fedparity.releasing.measuring import Effort
from fedparity.releasing.release import prepare
from fedparity.sketches.selection.dealing import Progress
from fedparity.sketches.selection.kernels import KernelName

__all__ = ["chosen_ledger", "sketch"]


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
    ledger: Ledger | str | os.PathLike[str] | Literal[False] | None = None,
    dataset: str | None = None,
    memory: int | None = None,
    threads: int | None = None,
    kernel: KernelName = "auto",
    resolution: int = 4096,
    progress: Progress | None = None,
) -> SiloSketch:
    r"""Return the message that a silo would send under a plan: per group a count and k numbers.

    The plan's disclosure rules are applied. Without a privacy mode nothing is written, and the
    ledger is not asked unless one is given. Under a plan with noise every message costs the plan's
    epsilon, so it is entered into the ledger before it is returned, and a second one is refused.

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
    ledger : Ledger, path, False or None
        Where the release is entered. If None, that of the command line under a plan with noise,
        and nowhere without. False enters it nowhere: for data that nobody has to protect.
    dataset : str, optional
        Under a plan with noise, the name of the data whose budget is spent; the plan's title if
        absent. Give it where audits of different titles use the same records.
    memory : int, optional
        Bytes of records that may be held; beyond, a file is scanned more than once. A quarter
        of the machine's memory if absent.
    threads, kernel
        Of no effect on the result.
    resolution : int
        Only where records come once: more values, smaller rank error.
    progress : function of (rows, rows in all or None, what is done), optional

    Examples
    --------
    >>> plan = Plan(title="Q4", groups=("A", "B"), score_range=(0, 1), levels=2)
    >>> table = {"z": [0.1, 0.2, 0.3, 0.4] * 10, "race": ["A", "B"] * 20}
    >>> sketch(table, plan=plan, silo="aurora", score="z", group="race").cells[1]
    SketchedCell('B', count=20, levels=2)
    """
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
        dataset=dataset,
        effort=effort,
    )
    record = chosen_ledger(ledger, plan)
    if record is not None:
        release.record(record)
    return release.sketch


def chosen_ledger(
    ledger: Ledger | str | os.PathLike[str] | Literal[False] | None, plan: Plan
) -> Ledger | None:
    """Return the ledger to enter a release into: the one given, or the user's where noise is."""
    if isinstance(ledger, Ledger):
        return ledger
    if ledger is None:
        return None if plan.privacy is None else Ledger(default_ledger_path())
    return None if ledger is False else Ledger(Path(ledger))
