"""A silo's table to its message: the function that a silo calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from fedparity.protocol.message import SiloSketch
from fedparity.protocol.plan import Plan
from fedparity.releasing.measuring import Effort
from fedparity.releasing.release import prepare
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
    memory: int | None = None,
    threads: int | None = None,
    kernel: KernelName = "auto",
    resolution: int = 4096,
    progress: Progress | None = None,
) -> SiloSketch:
    r"""Return the message that a silo would send under a plan: per group a count and k numbers.

    The plan's disclosure rules are applied. Nothing is written, and the ledger is not asked:
    :meth:`fedparity.releasing.release.Release.write` and the command line do that.

    Parameters
    ----------
    data : path, frame, dict of arrays, or iterator of these
        A file (CSV, TSV, Parquet, Arrow), a folder or pattern of files, a dict of arrays, a frame of
        pandas, polars or Arrow, anything that exports an Arrow stream; or an iterator of any of
        these, which is read once.
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
    return prepare(
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
    ).sketch
