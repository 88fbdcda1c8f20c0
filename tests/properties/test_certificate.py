"""The raw data's disparity never leaves the certificate of its sketches."""

import math
from itertools import pairwise

import numpy as np
import pytest
from tests.tiers import count

import fedparity as fp
from fedparity.diagnostics.certificate import _from_envelopes

CASES = count(quick=250, all=1500, soak=100_000)
SHAPES = {
    "uniform": lambda random, n: random.random(n),
    "quarters": lambda random, n: random.integers(0, 5, n) / 4,
    "tenths": lambda random, n: np.round(random.random(n), 1),
    "ends": lambda random, n: random.beta(0.3, 0.3, n),
}


def random_data(random):
    """Scores in [0, 1], groups and silos of a small federation; every group has a record."""
    groups = int(random.integers(2, 5))
    size = int(random.integers(groups, 60))
    scores = SHAPES[random.choice(list(SHAPES))](random, size)
    labels = random.integers(0, groups, size)
    labels[:groups] = np.arange(groups)
    return scores, labels, random.integers(0, random.integers(1, 6), size)


def inexact_cell(scores, levels, kind, rank_error, random):
    """A cell whose ranks are off by up to ``rank_error``, as a stream's sketch is."""
    law = fp.Law.from_scores(scores)
    steps = np.arange(levels + 1) / levels if kind == "mean" else fp.midpoints(levels)
    moved = np.clip(np.sort(steps + random.uniform(-rank_error, rank_error, steps.size)), 0, 1)
    if kind == "quantile":
        values = law.quantile(np.maximum(moved, 1e-12))
    else:
        moved[0], moved[-1] = 0.0, 1.0
        left, right = moved[:-1], np.maximum(moved[1:], moved[:-1] + 1e-9)
        values = (integral(law, right) - integral(law, left)) / (right - left)
        values = np.clip(np.maximum.accumulate(values), 0, 1)
    return fp.Cell(count=len(scores), values=values, kind=kind, rank_error=rank_error)


def integral(law, levels):
    """The integral of the quantile function up to each level."""
    running = np.concatenate(([0.0], np.cumsum(law.atoms * law.masses)))
    at = np.searchsorted(law.cumulative, np.minimum(levels, 1.0), side="left")
    before = np.concatenate(([0.0], law.cumulative))[at]
    return running[at] + law.atoms[at] * (np.minimum(levels, 1.0) - before)


def sketched(scores, labels, silos, random):
    """The federation of the data, of any kind, with different k, exact or not."""
    kind = random.choice(["quantile", "mean"])
    rank_error = float(random.choice([0.0, 0.0, 0.02, 0.1]))
    one_size = int(random.integers(1, 13))
    cells = {}
    for silo, group in {*zip(silos.tolist(), labels.tolist(), strict=True)}:
        own = scores[(silos == silo) & (labels == group)]
        levels = one_size if random.random() < 0.7 else int(random.integers(1, 13))
        if rank_error:
            cells[silo, group] = inexact_cell(own, levels, kind, rank_error, random)
        else:
            cells[silo, group] = fp.Cell.from_scores(own, levels=levels, kind=kind)
    return fp.Federation.from_cells(cells)


@pytest.mark.sampled
def test_the_disparity_of_the_raw_data_never_leaves_its_certificate():
    """Two to four groups, one to five silos, ties, both kinds, k from 1 to 12, rank errors."""
    for seed in range(CASES):
        random = np.random.default_rng((seed, 3))
        data = random_data(random)
        federation = sketched(*data, random)
        for order in (1, 2):
            certificate = fp.certify(federation, score_range=(0, 1), order=order)

            assert fp.disparity(data[0], sensitive_features=data[1], order=order) in certificate


@pytest.mark.sampled
def test_unseen_records_do_not_take_the_disparity_out_of_the_outer_bounds():
    for seed in range(CASES // 5):
        random = np.random.default_rng((seed, 4))
        scores, labels, silos = random_data(random)
        federation = sketched(scores, labels, silos, random)
        most = {group: int(random.integers(0, 20)) for group in federation.groups}
        hidden = [group for group in most for _ in range(random.integers(0, most[group] + 1))]
        everyone = np.append(scores, random.choice([0.0, 1.0, 0.3], len(hidden)))
        outer = fp.certify(federation, score_range=(0, 1), unseen=most)

        assert fp.disparity(everyone, sensitive_features=[*labels.tolist(), *hidden]) in outer


@pytest.mark.sampled
def test_trimmed_disparities_have_certificates_too():
    for seed in range(CASES // 5):
        random = np.random.default_rng((seed, 5))
        data = random_data(random)
        federation = sketched(*data, random)
        certificate = fp.certify(federation, score_range=(0, 1), trim=0.1)

        assert fp.disparity(data[0], sensitive_features=data[1], trim=0.1) in certificate


def test_the_upper_bound_of_a_quantile_sketch_is_attained():
    """Records of one group as low, of the other as high as their quantiles allow."""
    cells = {
        (silo, group): fp.Cell(count=9, values=values)
        for silo in (1, 2)
        for group, values in (("a", [0.1, 0.2, 0.3]), ("b", [0.6, 0.7, 0.8]))
    }
    low, high = [0.0, *[0.1] * 3, *[0.2] * 3, *[0.3] * 2], [*[0.6] * 2, *[0.7] * 3, *[0.8] * 3, 1]
    certificate = fp.certify(fp.Federation.from_cells(cells), score_range=(0, 1))
    attained = fp.disparity(2 * low + 2 * high, sensitive_features=["a"] * 18 + ["b"] * 18)

    assert fp.quantile_values(fp.Law.from_scores(low), 3).tolist() == [0.1, 0.2, 0.3]
    assert fp.quantile_values(fp.Law.from_scores(high), 3).tolist() == [0.6, 0.7, 0.8]
    assert certificate.upper == pytest.approx(attained, rel=1e-9)


def test_all_records_sent_leave_nothing_open():
    random = np.random.default_rng(0)
    scores, labels = random.random(40), np.repeat([0, 1], 20)
    federation = fp.Federation.from_scores(
        scores, groups=labels, silos=np.zeros(40, int), levels=20
    )

    assert fp.certify(federation, score_range=(0, 1)).width < 1e-9


def smooth(levels, kind):
    random = np.random.default_rng(1)
    groups = np.repeat(["a", "b"], 40_000)
    scores = np.where(groups == "a", random.beta(3, 4, 80_000), random.beta(6, 4, 80_000))
    return fp.Federation.from_scores(
        scores, groups=groups, silos=random.integers(0, 4, 80_000), levels=levels, kind=kind
    )


def test_it_shrinks_like_one_over_k():
    widths = [
        fp.certify(smooth(k, "quantile"), score_range=(0, 1)).width for k in (25, 50, 100, 200)
    ]

    for wide, narrow in pairwise(widths):
        assert 1.7 < wide / narrow < 2.4


def test_bin_means_beat_the_plain_envelope_by_an_order():
    federations = [smooth(k, "mean") for k in (25, 50, 100)]
    widths = [fp.certify(federation, score_range=(0, 1)).width for federation in federations]
    for federation, width in zip(federations, widths, strict=True):
        plain = _from_envelopes(federation, (0, 1), np.zeros(2), 2, 0.0)

        assert width < (plain[1] - plain[0]) / 5
    for wide, narrow in pairwise(widths):
        assert wide / narrow > 2.8


def test_a_rank_error_widens_the_certificate():
    cells = smooth(50, "quantile").cells
    widths = []
    for rank_error in (0.0, 0.005, 0.02):
        known = {
            key: fp.Cell(count=cell.count, values=cell.values, rank_error=rank_error)
            for key, cell in cells.items()
        }
        federation = fp.Federation.from_cells(known)
        widths.append(fp.certify(federation, score_range=(0, 1)).width)

    assert widths[0] < widths[1] < widths[2]


def test_nothing_known_of_missing_records_means_nothing_certain():
    certificate = fp.certify(smooth(5, "mean"), score_range=(0, 1), unseen={"a": math.inf})

    assert (certificate.lower, certificate.upper) == (0.0, 0.25)


@pytest.mark.parametrize("score_range", [(1, 0), (0, 0), (0, math.inf), "ab", (0.3, 1)])
def test_a_wrong_range_is_refused(score_range):
    with pytest.raises(fp.OptionError):
        fp.certify(smooth(5, "quantile"), score_range=score_range)


@pytest.mark.parametrize("unseen", [{"a": -1}, {"a": math.nan}, {"A": 100}])
def test_unseen_records_that_are_no_numbers_or_of_no_group_are_refused(unseen):
    """A misspelt group must not pass for a complete audit."""
    with pytest.raises(fp.OptionError):
        fp.certify(smooth(5, "quantile"), score_range=(0, 1), unseen=unseen)


def test_unseen_records_leave_the_shares_of_the_groups_open():
    """A hundred more of one group would make the groups less even; there may also be none."""
    scores, labels = [0.0] * 50 + [1.0] * 50, ["a"] * 50 + ["b"] * 50
    federation = fp.Federation.from_scores(scores, groups=labels, silos=[1] * 100, levels=50)
    outer = fp.certify(federation, score_range=(0, 1), unseen={"a": 100})

    assert fp.disparity(scores, sensitive_features=labels) in outer
    assert fp.disparity(scores + [0.0] * 100, sensitive_features=labels + ["a"] * 100) in outer
