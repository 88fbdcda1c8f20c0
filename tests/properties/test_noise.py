"""Noisy histograms: projections, bounds of ranks, and the reader of many histograms at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests import strategies  # noqa: F401 -- loads the settings that all property tests share

import fedparity as fp
from fedparity.privacy.histograms import Grid, GridTally
from fedparity.privacy.noise import NoiseLaw, monotone_masses
from fedparity.sketches.records import Batch
from fedparity.uncertainty.noisy_histograms import HistogramReader, NoisyHistograms

noisy_rows = arrays(np.int64, st.integers(2, 20), elements=st.integers(-30, 300))
counts = arrays(np.int64, st.integers(2, 20), elements=st.integers(0, 50))


@given(noisy_rows)
def test_a_projection_is_a_law_with_the_noisy_total(noisy):
    masses = monotone_masses(noisy)

    assert (masses >= 0).all()
    assert masses.sum() == pytest.approx(max(noisy.sum(), 0))


@given(noisy_rows)
def test_what_is_a_law_already_is_not_moved(noisy):
    """Projecting twice changes nothing."""
    masses = monotone_masses(noisy)

    np.testing.assert_allclose(monotone_masses(masses), masses, atol=1e-9)


@given(noisy_rows.filter(lambda noisy: noisy.sum() > 0))
def test_a_projection_does_not_prefer_one_end(noisy):
    """Mirrored scores have mirrored masses: neither group is moved up or down."""
    np.testing.assert_allclose(
        monotone_masses(noisy[::-1]), monotone_masses(noisy)[::-1], atol=1e-9
    )


@given(counts, st.data())
def test_a_projection_is_as_near_to_the_truth_as_the_largest_sum_of_noise(truth, data):
    """The proof behind the bounds of ranks: |projected − true| ≤ e at every edge."""
    noise = data.draw(arrays(np.int64, truth.size, elements=st.integers(-20, 20)))
    noisy = truth + noise

    reached = np.cumsum(monotone_masses(noisy))

    largest = np.abs(np.cumsum(noise)).max()
    assert np.abs(reached - np.cumsum(truth)).max() <= largest + 1e-9


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.integers(0, 59), st.integers(1, 30))
def test_removing_a_record_changes_one_count_by_one(scores, position, bins):
    """L1 distance 1: what the accounting assumes of neighboring tables."""
    grid = Grid.of((0.0, 1.0), bins=bins)
    array = np.array(scores)
    codes = (np.arange(array.size) % 2).astype(np.uint8)
    whole, less = GridTally(2, grid), GridTally(2, grid)
    kept = np.arange(array.size) != position % array.size
    whole.update(Batch(array, codes))
    less.update(Batch(array[kept], codes[kept]))

    assert np.abs(whole.counts - less.counts).sum() == 1


@given(
    arrays(
        np.int64,
        st.tuples(st.integers(1, 4), st.integers(2, 3), st.integers(4, 12)),
        elements=st.integers(0, 60),
    ),
    st.sampled_from([1, 2]),
)
def test_histograms_are_read_like_the_federation_of_their_laws(held, order):
    """The fast reader of redraws agrees with the measures of the audit."""
    held = held + 1  # every cell has records
    groups, grid = tuple("abc"[: held.shape[1]]), Grid.of((0.0, 1.0), bins=held.shape[2])
    histograms = NoisyHistograms(
        silos=tuple(range(held.shape[0])), groups=groups, counts=held, grid=grid, noise=NoiseLaw(1)
    )
    federation = histograms.federation()
    method = fp.Method(order=order, levels=1000)
    reader = HistogramReader(grid, order=order, levels=1000)

    found = reader.read(histograms.masses[None])
    parts = {**reader.measures(found), **reader.terms(found)}

    whole, terms, split = (
        measure(federation, method)
        for measure in (fp.theory.estimate, fp.theory.decompose, fp.theory.attribute)
    )
    expected = {
        "v_mix": terms.v_mix,
        "v_bar": terms.v_bar,
        "selection": split.selection,
        "within": split.within,
    }
    near = {"abs": 2e-3, "rel": 2e-2}
    assert reader.disparity(found.mixed, found.shares)[0] == pytest.approx(whole.disparity, **near)
    assert reader.heterogeneity(found.mixed, found.shares)[0] == pytest.approx(
        whole.heterogeneity, **near
    )
    assert {name: parts[name][0] for name in expected} == pytest.approx(expected, **near)
    local = [each.disparity for each in fp.theory.local_audits(federation, method)]
    assert reader.local(found.cells)[0].tolist() == pytest.approx(local, **near)


point_histograms = arrays(
    np.int64,
    st.tuples(st.integers(1, 4), st.integers(2, 3), st.integers(2, 9)),
    elements=st.integers(0, 30),
)


@given(point_histograms, st.sampled_from([1, 2]), st.data())
def test_histograms_on_points_are_measured_like_the_records_themselves(held, order, data):
    """Without noise nothing is hidden: every measure is that of the scores, to rounding."""
    held[:, :, data.draw(st.integers(0, held.shape[2] - 1))] += 1  # every cell has records
    points = np.cumsum(data.draw(arrays(np.float64, held.shape[2], elements=st.floats(0.1, 3.0))))
    grid, groups = Grid.of_points(points), tuple("abc"[: held.shape[1]])
    histograms = NoisyHistograms(
        silos=tuple(range(held.shape[0])), groups=groups, counts=held, grid=grid, noise=NoiseLaw(1)
    )
    silos, labels, places = (
        np.repeat(at, held.ravel()) for at in np.indices(held.shape).reshape(3, -1)
    )
    scores = points[places]
    method = fp.Method(order=order, estimator="exact")
    reader = HistogramReader(grid, order=order)

    found = reader.measures(reader.read(histograms.masses[None]))
    federation = histograms.federation()
    whole = fp.theory.estimate(federation, method)

    near = {"rel": 1e-9, "abs": 1e-12}
    exact = fp.disparity(scores, sensitive_features=labels, order=order)
    spread = fp.heterogeneity(scores, sensitive_features=labels, order=order)
    assert found["disparity"][0] == pytest.approx(exact, **near)
    assert whole.disparity == pytest.approx(exact, **near)
    assert found["heterogeneity"][0] == pytest.approx(spread, **near)
    assert whole.heterogeneity == pytest.approx(spread, **near)
    distances = [pair.wasserstein**order for pair in fp.theory.pairs(federation, method)]
    assert found["pairs"][0].tolist() == pytest.approx(distances, **near)
    parts = fp.theory.attribute(federation, method)
    assert found["selection"][0] == pytest.approx(parts.selection, **near)
    for silo in range(held.shape[0]):
        own = silos == silo
        alone = fp.disparity(scores[own], sensitive_features=labels[own], order=order)
        assert found["local"][0, silo] == pytest.approx(alone, **near)


@given(point_histograms, st.floats(0.01, 0.4))
def test_trimmed_disparities_of_points_are_exact(held, trim):
    held[..., 0] += 1
    grid = Grid.of_points(np.arange(float(held.shape[2])))
    histograms = NoisyHistograms(
        silos=tuple(range(held.shape[0])),
        groups=tuple("abc"[: held.shape[1]]),
        counts=held,
        grid=grid,
        noise=NoiseLaw(1),
    )
    method = fp.Method(estimator="exact", trim=trim)
    reader = HistogramReader(grid, order=2, trim=trim)

    found = reader.disparity(histograms.masses.sum(axis=0)[None])[0]

    expected = fp.theory.estimate(histograms.federation(), method).disparity
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
