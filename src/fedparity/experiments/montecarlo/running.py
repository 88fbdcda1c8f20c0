"""A study carried out, allocation by allocation, on several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from itertools import product
from threading import Event, Lock
from typing import TypeAlias

import numpy as np

from fedparity.errors import OptionError
from fedparity.experiments.montecarlo.chunks import Chunk, Found
from fedparity.experiments.montecarlo.dealing import Dealer
from fedparity.experiments.montecarlo.kernels import Kernel, KernelName, choose_kernel
from fedparity.experiments.montecarlo.ranking import Ranking
from fedparity.experiments.montecarlo.result import StudyResult
from fedparity.experiments.montecarlo.study import Study
from fedparity.functionals.disparity import disparity
from fedparity.protocol.files import Path
from fedparity.sketches.selection.dealing import available_threads

__all__ = ["Progress", "run_study"]

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with the allocations done, all allocations, and the title of the data set."""

_STEP = 0.1
"""Seconds between two looks at an interrupt."""


def run_study(
    study: Study,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    folder: Path | None = None,
    kernel: KernelName = "auto",
) -> StudyResult:
    """Return the estimates of all allocations of a study.

    The result depends on the study alone: not on workers, kernel, or where it was interrupted.

    Parameters
    ----------
    study : Study
    workers : int, optional
        Threads; one for each core if absent.
    progress : callable, optional
        Called with the allocations done, all allocations, and the title of the data set.
    folder : path, optional
        Keeps a file for each regime and number of silos. Those of the same settings are read
        instead of computed, so that an interrupted run resumes.
    kernel : "auto", "numpy" or "numba"

    Examples
    --------
    >>> from fedparity.experiments.datasets import load_dataset
    >>> study = Study(
    ...     dataset=load_dataset("synthetic"), silos=(2, 5), levels=(5, 50), replicates=3
    ... )
    >>> result = run_study(study)
    >>> result
    StudyResult('synthetic', 3 x 2 x 3 x 3 x 2 estimates)
    >>> bool((result.mae()[..., 1] < result.mae()[..., 0]).all())
    True
    """
    threads = _checked_workers(workers)
    data = study.dataset
    ranking = Ranking.of(data)
    chosen = choose_kernel(kernel, study, ranking)
    dealt = _Allocations(study, ranking, Dealer(data), chosen, progress)
    with ThreadPoolExecutor(threads) as pool:
        found = [_chunk(dealt, chunk, pool, threads, folder) for chunk in _chunks(study)]
    shape = (len(study.regimes), len(study.silos), study.replicates)
    estimates = np.stack([each.estimates for each in found])
    return StudyResult(
        study=study,
        estimates=estimates.reshape(*shape, *estimates.shape[-2:]),
        truth=disparity(data.scores, sensitive_features=data.codes),
        centralised=chosen.estimates(np.zeros(len(data), dtype=np.int64), 1),
        pearson=np.stack([each.pearson for each in found]).reshape(shape),
        spearman=np.stack([each.spearman for each in found]).reshape(shape),
    )


def _chunks(study: Study) -> Iterator[Chunk]:
    for regime, silos in product(study.regimes, study.silos):
        yield Chunk(study, regime, silos)


def _chunk(
    dealt: _Allocations,
    chunk: Chunk,
    pool: ThreadPoolExecutor,
    threads: int,
    folder: Path | None,
) -> Found:
    """One chunk, read if it is kept and else computed."""
    if folder is not None and (kept := chunk.read(folder)) is not None:
        dealt.tell(chunk.study.replicates)
        return kept
    found = Found.empty(chunk.study)
    futures = [pool.submit(dealt.work, chunk, found, t, threads) for t in range(threads)]
    try:
        _wait(futures)
    except BaseException:  # Ctrl-C: nobody starts another allocation
        dealt.stopped.set()
        raise
    if folder is not None:
        chunk.write(folder, found)
    return found


class _Allocations:
    """Deals and measures the allocations of a study, each with a seed of its own."""

    def __init__(
        self,
        study: Study,
        ranking: Ranking,
        dealer: Dealer,
        kernel: Kernel,
        progress: Progress | None,
    ) -> None:
        self._study, self._ranking = study, ranking
        self._dealer, self._kernel = dealer, kernel
        self._progress, self._lock, self._done = progress, Lock(), 0
        self._total = len(study.regimes) * len(study.silos) * study.replicates
        self.stopped = Event()

    def work(self, chunk: Chunk, found: Found, first: int, step: int) -> None:
        """Fill in every ``step``-th allocation of a chunk."""
        for replicate in range(first, self._study.replicates, step):
            if self.stopped.is_set():
                return
            try:
                self._fill(chunk, found, replicate)
            except BaseException:
                self.stopped.set()
                raise
            self.tell(1)

    def _fill(self, chunk: Chunk, found: Found, replicate: int) -> None:
        study, silos = self._study, chunk.silos
        dealt = self._dealer.deal(
            silos=silos,
            regime=chunk.regime,
            rho=study.rho,
            cut=study.cut,
            seed=study.seed_of(silos, replicate),
        )
        in_order = dealt.silos[self._ranking.order]
        found.estimates[replicate] = self._kernel.estimates(in_order, silos)
        found.pearson[replicate], found.spearman[replicate] = dealt.pearson, dealt.spearman

    def tell(self, allocations: int) -> None:
        """Report that so many more are done."""
        with self._lock:
            self._done += allocations
            if self._progress is not None:
                self._progress(self._done, self._total, self._study.dataset.title)


def _wait(futures: Sequence[Future[None]]) -> None:
    """Wait for all, or for an error, in short steps, between which Ctrl-C is heard."""
    while wait(futures, timeout=_STEP, return_when=FIRST_EXCEPTION).not_done:
        if any(future.done() and future.exception() for future in futures):
            break
    for future in futures:
        future.result()


def _checked_workers(workers: object) -> int:
    if workers is None:
        return available_threads()
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise OptionError(
            f"workers must be a whole number of at least 1, not {workers!r}.",
            fix="pass workers=2, or leave it out for one per core.",
        )
    return workers
