r"""The numbers of a silo that are summed: its histograms, and what else the global answer needs.

With :math:`h_{j,s}` the histogram of silo j and group s, :math:`n_{j,s}` its records and
:math:`q_{j,s}` the quantiles of the law that is uniform inside every bin:

=============  ==========================================  =====================================
part           what silo j adds                            what the sum gives
=============  ==========================================  =====================================
``counts``     :math:`h_{j,s}`                             the law of each group: G, H, pairs
``totals``     :math:`n_{j,s}`                             weights of the centers
``centers``    :math:`n_{j,s} q_{j,s}(u_\ell)`             transport centers: V_mix, V_bar, R
``unselected`` :math:`(n_j / n_{j,s}) h_{j,s}`             the counterfactual without selection
``parity``     :math:`(n_{j,s} / n_j) \sum_r h_{j,r}`      the counterfactual of local parity
``lacking``    1 where the silo has no record of a group   how often its pooled law stands in
``dropped``    rows without a score                        the warning about them
=============  ==========================================  =====================================

All but the counts are fixed-point numbers. Quantiles are sent as shares of the score range. Where
noise is added, everything is computed from the noisy histogram, and so is as private as it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fedparity.errors import RoundError
from fedparity.laws.arrays import FloatArray
from fedparity.privacy.discrete_laplace import noisy_counts
from fedparity.privacy.histograms import Counts, Grid, grid_counts, grid_quantiles
from fedparity.privacy.masking.fixed_point import most_records_of_one, to_fixed
from fedparity.privacy.projection import monotone_masses
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import roster_of, secure_terms
from fedparity.protocol.secure.layout import CENTER_LEVELS, Layout
from fedparity.releasing.measuring import Effort
from fedparity.releasing.noisy import check_unweighted
from fedparity.sketches.levels import midpoints
from fedparity.sketches.records import Faults, Records

__all__ = ["SiloNumbers", "count_records", "protected", "silo_vector", "summands"]


@dataclass(frozen=True, eq=False)
class SiloNumbers:
    """A silo's exact counts; they stay in the building."""

    counts: Counts
    dropped: int
    """Rows without a score that were left out."""

    def __repr__(self) -> str:
        return f"SiloNumbers({self.counts.shape[0]} groups, {self.counts.shape[1]} bins)"


def count_records(plan: Plan, records: Records, effort: Effort | None = None) -> SiloNumbers:
    """Count the records of a silo on the plan's grid, in one pass.

    Raises
    ------
    PrivacyError
        If the records have weights.
    RoundError
        If there are so many that the sum over all silos could overflow.
    """
    effort = effort or Effort()
    check_unweighted(plan, weighted=records.weighted)
    listening = _Listening(records)
    counts = grid_counts(
        listening,
        plan.grid,
        plan.groups,
        threads=effort.threads,
        progress=effort.progress,
    )
    most = most_records_of_one(len(roster_of(plan)))
    if int(counts.sum()) > most:
        raise RoundError.too_many_records(most)
    return SiloNumbers(counts, listening.dropped)


def silo_vector(plan: Plan, numbers: SiloNumbers) -> npt.NDArray[np.int64]:
    """Return the vector that a silo masks, with fresh noise where the plan asks for it."""
    layout = Layout.of(plan)
    counts = protected(plan, numbers.counts)
    parts = {"counts": counts, "dropped": np.array([numbers.dropped])}
    if "totals" in layout.shapes:
        masses = _masses(plan, counts)
        parts |= summands(masses, plan.grid, midpoints(CENTER_LEVELS, trim=plan.trim))
    return layout.pack(parts)


def protected(plan: Plan, counts: Counts) -> Counts:
    """Return the counts with the plan's noise: none, a full dose, or this silo's part of one."""
    terms = secure_terms(plan)
    if terms.epsilon is None:
        return counts
    if terms.dose == "split":
        from fedparity.privacy.polya import polya_differences  # noqa: PLC0415 -- not at start

        return counts + polya_differences(counts.shape, terms.epsilon, int(terms.honest or 1))
    return noisy_counts(counts, terms.epsilon)


def summands(masses: FloatArray, grid: Grid, levels: FloatArray) -> dict[str, Counts]:
    """Return the fixed-point parts of the vector, from masses by group (rows) and bin.

    Examples
    --------
    >>> grid = Grid.of((0.0, 1.0), bins=2)
    >>> parts = summands(np.array([[1.0, 3.0], [0.0, 0.0]]), grid, np.array([0.5]))
    >>> parts["lacking"].tolist(), (parts["totals"] / 2**24).tolist()
    ([0, 1], [4.0, 0.0])
    """
    totals = masses.sum(axis=1)
    pooled, everyone = masses.sum(axis=0), float(totals.sum())
    there = totals > 0
    centers = np.zeros((totals.size, levels.size))
    if there.any():
        quantiles = grid_quantiles(masses[there], grid, levels)
        centers[there] = totals[there, None] * (quantiles - grid.low) / (grid.high - grid.low)
    factor = everyone / np.where(there, totals, 1.0)
    unselected = np.where(there[:, None], factor[:, None] * masses, pooled)
    parity = totals[:, None] / max(everyone, 1.0) * pooled
    return {
        "totals": to_fixed(totals),
        "lacking": (~there & (everyone > 0)).astype(np.int64),
        "unselected": to_fixed(unselected),
        "parity": to_fixed(parity),
        "centers": to_fixed(centers),
    }


def _masses(plan: Plan, counts: Counts) -> FloatArray:
    """Counts as masses: as they are, or noisy ones made valid and kept below what may overflow."""
    if not secure_terms(plan).noisy:
        return counts.astype(np.float64)
    masses = monotone_masses(counts)
    most = most_records_of_one(len(roster_of(plan)))
    return masses * min(1.0, most / max(float(masses.sum()), 1.0))


class _Listening:
    """Records that remember how many rows their owner accepted to drop."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self.dropped = 0
        self.groups, self.weighted = records.groups, records.weighted
        self.rescannable, self.rows = records.rescannable, records.rows
        self.resident, self.worth_holding = records.resident, records.worth_holding
        self.batches = records.batches

    def accept(self, faults: Faults) -> int:
        """Ask whoever is to be asked."""
        self.dropped = self._records.accept(faults)
        return self.dropped
