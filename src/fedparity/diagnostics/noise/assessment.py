"""How sure are we of measures from noisy histograms: noise, bins and sampling, kept apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fedparity.diagnostics.assessment import Assessment, DisparityAssessment
from fedparity.diagnostics.attribution import attribute
from fedparity.diagnostics.bootstrap import Draws, Progress
from fedparity.diagnostics.certificate import Certificate, certify
from fedparity.diagnostics.checks import check_confidence, check_redraws
from fedparity.diagnostics.decomposition import Decomposition, decompose
from fedparity.diagnostics.intervals import Interval, basic_interval, p_value
from fedparity.diagnostics.length_assessment import LengthAssessment, assess_length
from fedparity.diagnostics.local import local_audits
from fedparity.diagnostics.noise.histograms import NoisyHistograms
from fedparity.diagnostics.noise.reading import HistogramReader
from fedparity.diagnostics.noise.redraws import redrawn_measures
from fedparity.federated.estimate import estimate
from fedparity.federated.federation import Federation
from fedparity.federated.method import Method
from fedparity.laws.labels import Group, Silo

__all__ = ["NoisyDisparityAssessment", "assess_noisy", "binning_error"]

_FEWEST, _MOST = 200, 1_000
_CELLS_REDRAWN = 100_000


@dataclass(frozen=True, kw_only=True)
class NoisyDisparityAssessment(DisparityAssessment):
    """A disparity from noisy histograms.

    ``interval`` is what the population could be, sampling and noise counted. ``certificate`` is what
    the raw data could be, noise and bins counted: at the confidence stated, not for certain.
    """

    binning: float
    """How much the disparity changes with half as many bins."""

    @property
    def combined(self) -> Interval:
        """What the population could be, all errors counted.

        Noise is in ``interval`` already; what the bins hide and what nobody released is added.
        """
        below = self.binning + max(0.0, self.certificate.lower - self.outer.lower)
        above = self.binning + max(0.0, self.outer.upper - self.certificate.upper)
        return Interval(max(0.0, self.interval.lower - below), self.interval.upper + above)


def assess_noisy(
    histograms: NoisyHistograms,
    federation: Federation,
    method: Method,
    *,
    score_range: tuple[float, float],
    confidence: float = 0.95,
    unseen: Mapping[Group, float] | None = None,
    redraws: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Assessment:
    """Say how far each measure of noisy histograms may be from the truth.

    ``federation`` holds the same histograms as the measures read them. Redraws of the noise alone
    tell what the raw data could be; redraws of records and noise what the population could be. To
    the first the change of the disparity with half as many bins is added: intervals of the noise
    alone were seen to cover too seldom.
    """
    check_confidence(confidence)
    redraws = _default(histograms) if redraws is None else check_redraws(redraws)
    reader = HistogramReader(histograms.grid, order=method.order, trim=method.trim)
    noise, joint = (
        redrawn_measures(
            histograms,
            reader,
            sampled=sampled,
            redraws=redraws,
            seed=seed,
            progress=_half(progress, second=sampled),
        )
        for sampled in (False, True)
    )
    found = estimate(federation, method)
    binning = binning_error(histograms, reader)
    certificate = _certificate(found.disparity, noise["disparity"], binning, confidence, reader)
    length = assess_length(found.disparity, joint["disparity"], confidence, method.order)
    disparity = NoisyDisparityAssessment(
        value=length.value,
        corrected=length.corrected,
        interval=length.interval,
        certificate=certificate,
        outer=_outer(certificate, federation, method, score_range, unseen),
        p_value=p_value(length.value, joint["disparity"].null),
        null=tuple(np.sort(joint["disparity"].null).tolist()),
        binning=binning,
    )
    terms = _terms(federation, method)
    return Assessment(
        disparity=disparity,
        heterogeneity=assess_length(
            found.heterogeneity, joint["heterogeneity"], confidence, method.order
        ),
        decomposition={
            name: _interval(name, value, joint[name], confidence)
            for name, value in terms.items()
            if name in ("v_mix", "v_bar", "remainder")
        },
        attribution={
            name: _interval(name, terms[name], joint[name], confidence)
            for name in ("selection", "within")
        },
        local=_local(federation, method, joint["local"], confidence, histograms.silos),
        confidence=confidence,
        redraws=redraws,
        seed=seed,
        warnings=_noise_words(terms, noise, confidence),
    )


def _half(progress: Progress | None, *, second: bool) -> Progress | None:
    """Tell the progress of one of two rounds of redraws."""
    if progress is None:
        return None
    return lambda done, total: progress(done + second * total, 2 * total)


def binning_error(histograms: NoisyHistograms, reader: HistogramReader) -> float:
    r"""Return :math:`|G_B - G_{B/2}|`: what bins hide is of this order, three times as much if smooth.

    Bins that are points hide nothing. With one bin there is nothing to compare: then it is the
    disparity itself.
    """
    if histograms.grid.pointwise:
        return 0.0
    coarse = histograms.coarser()
    fine, halved = (
        float(each.disparity(held.masses.sum(axis=0)[None])[0])
        for each, held in ((reader, histograms), (reader.on(coarse.grid), coarse))
    )
    return abs(fine - halved)


def _certificate(
    value: float, noise: Draws, binning: float, confidence: float, reader: HistogramReader
) -> Certificate:
    interval = assess_length(value, noise, confidence, reader.order).interval
    width = reader.grid.high - reader.grid.low
    widest = width**reader.order / (2 if reader.order == 1 else 4)
    lower = min(interval.lower, value) - binning
    upper = max(interval.upper, value) + binning
    return Certificate(lower=max(0.0, lower), upper=min(widest, upper))


def _outer(
    certificate: Certificate,
    federation: Federation,
    method: Method,
    score_range: tuple[float, float],
    unseen: Mapping[Group, float] | None,
) -> Certificate:
    """The certificate, moved as far as records that nobody described can move any disparity."""
    if not unseen:
        return certificate
    known = certify(federation, score_range=score_range, order=method.order, trim=method.trim)
    wider = certify(
        federation, score_range=score_range, order=method.order, trim=method.trim, unseen=unseen
    )
    low, high = score_range
    widest = (high - low) ** method.order / (2 if method.order == 1 else 4)
    return Certificate(
        lower=max(0.0, certificate.lower - max(0.0, known.lower - wider.lower)),
        upper=min(widest, certificate.upper + max(0.0, wider.upper - known.upper)),
    )


def _terms(federation: Federation, method: Method) -> dict[str, float]:
    terms, parts = decompose(federation, method), attribute(federation, method)
    values = {"v_mix": terms.v_mix, "v_bar": terms.v_bar}
    if isinstance(terms, Decomposition):
        values["remainder"] = terms.remainder
    return {**values, "selection": parts.selection, "within": parts.within}


def _interval(name: str, value: float, draws: Draws, confidence: float) -> Interval:
    lower, upper = basic_interval(value, float(draws.base), draws.values, confidence)
    if name in ("v_mix", "v_bar"):
        return Interval(max(lower, 0.0), max(upper, 0.0))
    return Interval(lower, upper)


def _local(
    federation: Federation,
    method: Method,
    draws: Draws,
    confidence: float,
    silos: tuple[Silo, ...],
) -> dict[Silo, LengthAssessment | None]:
    column = {silo: i for i, silo in enumerate(silos)}
    local: dict[Silo, LengthAssessment | None] = {}
    for audit in local_audits(federation, method):
        i = column[audit.silo]
        own = Draws(draws.base[i], draws.values[:, i], draws.noise[:, i], draws.noise[:, i])
        local[audit.silo] = (
            None
            if audit.disparity is None
            else assess_length(audit.disparity, own, confidence, method.order)
        )
    return local


_WORDS = {
    "v_mix": "V_mix",
    "v_bar": "V_bar",
    "remainder": "the interaction R",
    "selection": "the selection part",
    "within": "the within-silo part",
}


def _noise_words(
    terms: Mapping[str, float], noise: Mapping[str, Draws], confidence: float
) -> tuple[str, ...]:
    """A sentence that names the terms which noise alone could have made."""
    lost = []
    for name, value in terms.items():
        lower, upper = basic_interval(
            value, float(noise[name].base), noise[name].values, confidence
        )
        if lower <= 0 <= upper or (name in ("v_mix", "v_bar") and upper <= 0):
            lost.append(_WORDS[name])
    if not lost:
        return ()
    named = " and ".join([", ".join(lost[:-1]), lost[-1]] if len(lost) > 1 else lost)
    return (f"the noise alone could have made {named}: do not read size or sign.",)


def _default(histograms: NoisyHistograms) -> int:
    cells = histograms.counts.shape[0] * histograms.counts.shape[1]
    return int(np.clip(_CELLS_REDRAWN // cells, _FEWEST, _MOST))
