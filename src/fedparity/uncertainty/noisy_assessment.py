"""How sure are we of measures from noisy histograms: noise, bins and sampling, each separately."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fedparity.documents.audit_warnings import AuditWarning
from fedparity.federated.decomposition import Decomposition
from fedparity.federated.estimate import Method, Pair
from fedparity.federated.federation import Federation
from fedparity.federated.local_audits import LocalAudit, Measures
from fedparity.functionals.curves import largest_disparity
from fedparity.laws.bounds import Bounds
from fedparity.laws.labels import Group, Silo
from fedparity.laws.law import FloatArray
from fedparity.laws.progress import Progress
from fedparity.uncertainty.assessment import (
    Assessment,
    DisparityAssessment,
    assess_pairs,
    part_intervals,
)
from fedparity.uncertainty.bootstrap import Draws
from fedparity.uncertainty.certificate import certify
from fedparity.uncertainty.checks import check_confidence, check_redraws
from fedparity.uncertainty.intervals import (
    LengthAssessment,
    PairAssessment,
    assess_length,
    basic_interval,
    p_value,
)
from fedparity.uncertainty.noisy_histograms import (
    HistogramReader,
    NoisyHistograms,
    redrawn_measures,
)

__all__ = [
    "NoisyDisparityAssessment",
    "assess_noisy",
    "binning_errors",
    "noise_rank_errors",
]

_NUMBERS = 20_000_000
_FEWEST, _MOST = 200, 4_000
_FEWEST_REDRAWS, _MOST_REDRAWS = 200, 1_000
_CELLS_REDRAWN = 100_000
_PARTS = "selection", "within"


def noise_rank_errors(
    histograms: NoisyHistograms, *, confidence: float, seed: int = 0
) -> FloatArray:
    r"""Return, by silo and group, a bound of the rank error that holds in all cells at once.

    The largest running sum of noise in any cell is simulated from its known law.

    **Proof.** Let T be a cell's true running sums over the bins, Y = T + E the noisy ones, and
    :math:`e = \max_i |E_i|`, the total included. T does not decrease, so :math:`\max_{j \le i} Y_j` and
    :math:`\min_{j \ge i} Y_j` both lie within e of :math:`T_i`; so does their mean, and cutting it to
    [0, N + E_B] moves it no further away. So projected and true running sums differ by at most e at
    every edge, and as shares of noisy and true totals by at most 2e over the noisy total. Between edges
    nothing is known: a value may be off by the width of its bin.
    """
    silos, groups, bins = histograms.counts.shape
    draws = int(np.clip(_NUMBERS // histograms.counts.size, _FEWEST, _MOST))
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))
    largest = np.empty(draws)
    step = max(1, _NUMBERS // (20 * histograms.counts.size))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        noise = histograms.noise.draw(random, (size, silos * groups, bins))
        largest[start : start + size] = np.abs(np.cumsum(noise, axis=-1)).max(axis=(1, 2))
    bound = float(np.quantile(largest, confidence, method="higher"))
    totals = np.maximum(histograms.counts.sum(axis=-1), 1)
    errors: FloatArray = np.minimum(2 * bound / totals, 1.0)
    return errors


@dataclass(frozen=True, kw_only=True)
class NoisyDisparityAssessment(DisparityAssessment):
    """A disparity from noisy histograms.

    ``interval`` is what the population could be: sampling, noise and bins counted. ``certificate`` is
    what the raw data could be, noise and bins counted: at the confidence stated, not for certain.
    """

    binning: float
    """How much the disparity changes with half as many bins; 0 where bins are points."""

    @staticmethod
    def with_sketches(interval: Bounds, value: float, certificate: Bounds) -> Bounds:  # noqa: ARG004
        """Return the interval as it is: it counts noise and bins already."""
        return interval

    @staticmethod
    def with_all(
        interval: Bounds,
        value: float,  # noqa: ARG004
        certificate: Bounds,
        outer: Bounds,
    ) -> Bounds:
        """Return the interval, moved as far as records that nobody described move the raw data's.

        Its lower end falls by as much as that of the raw data, or by the same factor, whichever is
        more: bounds that noise has widened may have no room left to fall.
        """
        if (outer.lower, outer.upper) == (certificate.lower, certificate.upper):
            return interval
        factor = outer.lower / certificate.lower if certificate.lower > 0 else 0.0
        fallen = interval.lower - max(0.0, certificate.lower - outer.lower)
        risen = interval.upper + max(0.0, outer.upper - certificate.upper)
        return Bounds(max(0.0, min(fallen, factor * interval.lower)), risen)


def assess_noisy(
    histograms: NoisyHistograms,
    federation: Federation,
    method: Method,
    *,
    score_range: tuple[float, float],
    confidence: float = 0.95,
    unseen: Mapping[Group, float] | None = None,
    unseen_total: float | None = None,
    redraws: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    measures: Measures | None = None,
) -> Assessment:
    """Say how far each measure of noisy histograms may be from the truth.

    ``federation`` holds the same histograms as the measures read them. Redraws of the noise alone
    show what the raw data could be; redraws of records and noise what the population could be. To
    both the change of each measure with half as many bins is added, unless bins are points:
    intervals of the noise alone were seen to cover too seldom.
    """
    check_confidence(confidence)
    redraws = _redraws(histograms, redraws)
    reader = HistogramReader(histograms.grid, order=method.order, trim=method.trim)
    noise, joint = _drawn(histograms, reader, redraws=redraws, seed=seed, progress=progress)
    measured = measures or Measures(federation, method)
    found = measured.estimate
    hidden = binning_errors(histograms, reader)
    length = partial(assess_length, confidence=confidence, order=method.order)
    inside = float(hidden["disparity"])
    of_raw = length(found.disparity, noise["disparity"], inside=inside).interval
    certificate = Bounds(lower=of_raw.lower, upper=min(_widest(reader), of_raw.upper))
    outer = certificate
    if unseen:
        bounds = partial(certify, federation, score_range=score_range, order=method.order)
        certain = partial(bounds, trim=method.trim)
        wider = certain(unseen=unseen, unseen_total=unseen_total)
        outer = _outer(certificate, certain(), wider, reader)
    disparity = length(found.disparity, joint["disparity"], inside=inside)
    parts, spread = {name: float(hidden[name]) for name in _PARTS}, "heterogeneity"
    return Assessment(
        disparity=_disparity(disparity, joint["disparity"], certificate, outer, binning=inside),
        heterogeneity=length(found.heterogeneity, joint[spread], inside=float(hidden[spread])),
        pairs=_pairs(measured.pairs, joint["pairs"], hidden["pairs"], confidence, method.order),
        attribution=part_intervals(
            measured.attribution, joint, disparity, confidence, inside=parts
        ),
        local=_local(measured.local, length, joint["local"], hidden["local"], histograms),
        confidence=confidence,
        redraws=redraws,
        seed=seed,
        warnings=_noise_words(_terms(measured), noise, confidence),
    )


def _redraws(histograms: NoisyHistograms, stated: int | None) -> int:
    """How often histograms are drawn again: as stated, or fewer the more cells there are."""
    if stated is not None:
        return check_redraws(stated)
    cells = histograms.counts.shape[0] * histograms.counts.shape[1]
    return int(np.clip(_CELLS_REDRAWN // cells, _FEWEST_REDRAWS, _MOST_REDRAWS))


def _drawn(
    histograms: NoisyHistograms,
    reader: HistogramReader,
    *,
    redraws: int,
    seed: int,
    progress: Progress | None,
) -> list[dict[str, Draws]]:
    """Every measure in redraws of the noise alone, then of records and noise."""
    return [
        redrawn_measures(
            histograms,
            reader,
            sampled=sampled,
            redraws=redraws,
            seed=seed,
            progress=_half(progress, second=sampled),
        )
        for sampled in (False, True)
    ]


def _disparity(
    found: LengthAssessment, joint: Draws, certificate: Bounds, outer: Bounds, *, binning: float
) -> NoisyDisparityAssessment:
    """The disparity with all that is known of it."""
    return NoisyDisparityAssessment(
        value=found.value,
        corrected=found.corrected,
        interval=found.interval,
        certificate=certificate,
        outer=outer,
        p_value=p_value(found.value, joint.null),
        null=tuple(np.sort(joint.null).tolist()),
        binning=binning,
    )


def _half(progress: Progress | None, *, second: bool) -> Progress | None:
    """The callback for one of two rounds of redraws."""
    if progress is None:
        return None
    return lambda done, total: progress(done + second * total, 2 * total)


def binning_errors(histograms: NoisyHistograms, reader: HistogramReader) -> dict[str, FloatArray]:
    r"""Return :math:`|G_B - G_{B/2}|` of every measure: what bins hide is of this order.

    Three times as much if scores are smooth. Bins that are points hide nothing. With one bin there
    is nothing to compare: then it is the measure itself.
    """
    fine = reader.measures(reader.read(histograms.masses[None]))
    if histograms.grid.pointwise:
        return {name: np.zeros_like(values[0]) for name, values in fine.items()}
    coarse = histograms.coarser()
    other = reader.on(coarse.grid)
    halved = other.measures(other.read(coarse.masses[None]))
    return {name: np.abs(values[0] - halved[name][0]) for name, values in fine.items()}


def _outer(certificate: Bounds, known: Bounds, wider: Bounds, reader: HistogramReader) -> Bounds:
    """The certificate, moved as far as records that nobody described can move any disparity.

    They move that of the histograms themselves from ``known`` to ``wider``; where they can undo
    it altogether, they can undo this one too.
    """
    below = max(0.0, known.lower - wider.lower) if wider.lower else certificate.lower
    above = max(0.0, wider.upper - known.upper)
    return Bounds(
        lower=max(0.0, certificate.lower - below),
        upper=min(_widest(reader), certificate.upper + above),
    )


def _widest(reader: HistogramReader) -> float:
    """The largest disparity that scores in the range allow."""
    return largest_disparity(reader.grid.high - reader.grid.low, reader.order)


def _terms(measured: Measures) -> dict[str, float]:
    terms, parts = measured.terms, measured.attribution
    values = {"v_mix": terms.v_mix, "v_bar": terms.v_bar}
    if isinstance(terms, Decomposition):
        values["remainder"] = terms.remainder
    return {**values, "selection": parts.selection, "within": parts.within}


def _pairs(
    found: Sequence[Pair], draws: Draws, hidden: FloatArray, confidence: float, order: int
) -> tuple[PairAssessment, ...]:
    """The distance of every two groups, with what bins hide of its power."""

    def wider(interval: Bounds, inside: float) -> Bounds:
        lower, upper = (end**order for end in interval)
        return Bounds(max(0.0, lower - inside) ** (1 / order), (upper + inside) ** (1 / order))

    return tuple(
        replace(
            pair,
            interval=wider(pair.interval, inside),
            simultaneous=wider(pair.simultaneous, inside),
        )
        for pair, inside in zip(
            assess_pairs(found, draws, confidence, order),
            hidden.tolist(),
            strict=True,
        )
    )


def _local(
    audits: Sequence[LocalAudit],
    length: Callable[..., LengthAssessment],
    draws: Draws,
    hidden: FloatArray,
    histograms: NoisyHistograms,
) -> dict[Silo, LengthAssessment | None]:
    """The disparity inside each silo; None where it has fewer than two groups."""
    column = {silo: i for i, silo in enumerate(histograms.silos)}

    def assessed(audit: LocalAudit) -> LengthAssessment | None:
        if audit.disparity is None:
            return None
        i = column[audit.silo]
        return length(audit.disparity, draws.column(i), inside=float(hidden[i]))

    return {audit.silo: assessed(audit) for audit in audits}


_WORDS = {
    "v_mix": "V_mix",
    "v_bar": "V_bar",
    "remainder": "the interaction R",
    "selection": "the selection part",
    "within": "the within-silo part",
}


def _noise_words(
    terms: Mapping[str, float], noise: Mapping[str, Draws], confidence: float
) -> tuple[AuditWarning, ...]:
    """A sentence that names the terms which noise alone could have made."""
    lost = []
    for name, value in terms.items():
        lower, upper = basic_interval(
            value, float(noise[name].base), noise[name].values, confidence
        )
        if lower <= 0 <= upper:
            lost.append(_WORDS[name])
    if not lost:
        return ()
    named = " and ".join([", ".join(lost[:-1]), lost[-1]] if len(lost) > 1 else lost)
    words = f"the noise alone could have made {named}: do not read size or sign."
    return (AuditWarning(code="noise_alone", text=words),)
