"""The raw data's disparity never leaves the certificate of its sketches."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.random_federations import disclosed, hardest_hidden, random_data, sketched, with_hidden
from tests.tiers import count

import fedparity as fp
from fedparity.privacy.disclosure import round_values, rounding_error
from fedparity.uncertainty.certificate import _between_envelopes
from fedparity.uncertainty.checks import Evidence
from fedparity.uncertainty.potentials import bins_of, most_from_coupling

CASES = count(quick=60, all=200, soak=100_000)
"""Random federations of the longest test; a soak test asks for more."""


@pytest.mark.sampled
def test_the_disparity_of_the_raw_data_never_leaves_its_certificate():
    """Two to six groups, one to five silos, ties, all kinds, k from 1 to 12, errors of all sorts."""
    for seed in range(CASES):
        random = np.random.default_rng((seed, 3))
        data = random_data(random, most_groups=6 if seed % 10 == 0 else 4)
        federation = disclosed(*data, random)
        for order in (1, 2):
            certificate = fp.theory.certify(federation, score_range=(0, 1), order=order)

            assert fp.disparity(data[0], sensitive_features=data[1], order=order) in certificate


@pytest.mark.sampled
def test_unseen_records_do_not_take_the_disparity_out_of_the_outer_bounds():
    """However many of each group and of all there are at most, and wherever they lie."""
    for seed in range(CASES // 2):
        random = np.random.default_rng((seed, 4))
        scores, labels, silos = random_data(random, most_groups=6 if seed % 10 == 0 else 4)
        federation = disclosed(scores, labels, silos, random)
        everyone, groups, most, total = with_hidden(scores, labels, federation, random)
        for order in (1, 2):
            known = {"score_range": (0, 1), "order": order}
            outer = fp.theory.certify(federation, unseen=most, unseen_total=total, **known)
            certificate = fp.theory.certify(federation, **known)

            assert fp.disparity(everyone, sensitive_features=groups, order=order) in outer
            assert outer.lower <= certificate.lower
            assert outer.upper >= certificate.upper


@pytest.mark.sampled
@pytest.mark.parametrize("order", [1, 2])
def test_the_hardest_hidden_records_stay_inside_the_outer_bounds(order):
    """Placed one by one, of any group and at any score, so as to move the disparity most."""
    for seed in range(CASES // 8):
        random = np.random.default_rng((seed, 14))
        scores, labels, silos = random_data(random, most_groups=3)
        few = random.permutation(scores.size)[: int(random.integers(4, 12))]
        few = np.union1d(few, np.unique(labels, return_index=True)[1])
        scores, labels, silos = scores[few], labels[few], silos[few]
        federation = disclosed(scores, labels, silos, random)
        total = int(random.integers(1, 7))
        anything = dict.fromkeys(federation.groups, math.inf)
        outer = fp.theory.certify(
            federation, score_range=(0, 1), order=order, unseen=anything, unseen_total=total
        )
        for most in (False, True):
            hardest = hardest_hidden(
                scores, labels, federation.groups, total, order=order, most=most
            )

            assert hardest in outer


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", ["counts", "mean"])
@pytest.mark.parametrize(
    "counts",
    [(6, 4, 3, 16), (8, 16, 7, 6), (5, 5, 5, 5), (5, 5, 0, 5), (3, 30, 15, 4), (30, 3, 1, 4)],
)
def test_every_split_of_hidden_records_between_the_ends(counts, kind, order):
    """One group at the bottom, one at both ends, and more of the first wherever they may be."""
    of_a, of_b, at_top, hidden = counts
    scores = [0.0] * of_a + [0.0] * (of_b - at_top) + [1.0] * at_top
    groups = ["a"] * of_a + ["b"] * of_b
    federation = fp.Federation.from_scores(
        scores, groups=groups, silos=[1] * len(scores), levels=of_b, kind=kind
    )
    outer = fp.theory.certify(federation, score_range=(0, 1), order=order, unseen={"a": hidden})
    for number in range(hidden + 1):
        for top in range(number + 1):
            everyone = [*scores, *[1.0] * top, *[0.0] * (number - top)]
            of = [*groups, *["a"] * number]

            assert fp.disparity(everyone, sensitive_features=of, order=order) in outer


def test_rests_of_bins_weigh_most_where_their_group_is_half_of_all():
    """Unseen records of the others can bring a group of two thirds down to one half."""
    cells = {
        (1, "a"): fp.Cell(count=4, values=[0.4], kind="mean", mean_square=0.04),
        (1, "b"): fp.Cell(count=2, values=[0.4], kind="mean", mean_square=0.0),
    }
    without = {key: replace(cell, mean_square=0.0) for key, cell in cells.items()}
    bounds = [
        most_from_coupling(
            Evidence.from_federation(fp.Federation.from_cells(each), (0, 1), {"b": 4}), 2
        )
        for each in (cells, without)
    ]

    assert bounds[0] - bounds[1] == pytest.approx(0.04 / 4, rel=1e-9)


@pytest.mark.sampled
def test_unseen_records_do_not_take_a_trimmed_disparity_out_either():
    for seed in range(CASES // 5):
        random = np.random.default_rng((seed, 5))
        scores, labels, silos = random_data(random)
        federation = sketched(scores, labels, silos, random)
        everyone, groups, most, total = with_hidden(scores, labels, federation, random)
        certificate = fp.theory.certify(federation, score_range=(0, 1), trim=0.1)
        outer = fp.theory.certify(
            federation, score_range=(0, 1), trim=0.1, unseen=most, unseen_total=total
        )

        assert fp.disparity(scores, sensitive_features=labels, trim=0.1) in certificate
        assert fp.disparity(everyone, sensitive_features=groups, trim=0.1) in outer


@pytest.mark.sampled
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7, 1e8, -1e8, 1e12])
def test_a_large_offset_costs_no_more_than_the_rounding_of_floats(offset):
    """Scores are counted from the lower end of the range, so only their own rounding is left."""
    spacing = float(np.spacing(abs(offset) + 1))
    for seed in range(CASES // 10):
        random = np.random.default_rng((seed, 6))
        scores, labels, silos = random_data(random)
        kind = random.choice(["quantile", "mean", "counts"])
        widths = []
        for far in (0.0, offset):
            moved = (scores + offset) - offset + far  # the same floats, here and there
            federation = fp.Federation.from_scores(
                moved, groups=labels, silos=silos, levels=5, kind=kind
            )
            certificate = fp.theory.certify(federation, score_range=(far - 0.5, far + 1.5))
            widths.append(certificate.width)

            assert fp.disparity(moved, sensitive_features=labels) in certificate

        assert widths[1] <= 1.1 * widths[0] + 40 * spacing


def test_the_upper_bound_of_a_quantile_sketch_is_attained():
    """Records of one group as low, of the other as high as their quantiles allow."""
    cells = {
        (silo, group): fp.Cell(count=9, values=values)
        for silo in (1, 2)
        for group, values in (("a", [0.1, 0.2, 0.3]), ("b", [0.6, 0.7, 0.8]))
    }
    low, high = [0.0, *[0.1] * 3, *[0.2] * 3, *[0.3] * 2], [*[0.6] * 2, *[0.7] * 3, *[0.8] * 3, 1]
    certificate = fp.theory.certify(fp.Federation.from_cells(cells), score_range=(0, 1))
    attained = fp.disparity(2 * low + 2 * high, sensitive_features=["a"] * 18 + ["b"] * 18)

    assert fp.theory.quantile_values(fp.Law.from_scores(low), 3).tolist() == [0.1, 0.2, 0.3]
    assert fp.theory.quantile_values(fp.Law.from_scores(high), 3).tolist() == [0.6, 0.7, 0.8]
    assert certificate.upper == pytest.approx(attained, rel=1e-9)


def test_all_records_sent_leave_nothing_open():
    random = np.random.default_rng(0)
    scores, labels = random.random(40), np.repeat([0, 1], 20)
    federation = fp.Federation.from_scores(
        scores, groups=labels, silos=np.zeros(40, int), levels=20, kind="quantile"
    )

    assert fp.theory.certify(federation, score_range=(0, 1)).width < 1e-9


def smooth(levels, kind):
    random = np.random.default_rng(1)
    groups = np.repeat(["a", "b"], 40_000)
    scores = np.where(groups == "a", random.beta(3, 4, 80_000), random.beta(6, 4, 80_000))
    return fp.Federation.from_scores(
        scores, groups=groups, silos=random.integers(0, 4, 80_000), levels=levels, kind=kind
    )


def test_it_shrinks_like_one_over_k():
    widths = [
        fp.theory.certify(smooth(k, "quantile"), score_range=(0, 1)).width
        for k in (25, 50, 100, 200)
    ]

    for wide, narrow in pairwise(widths):
        assert 1.7 < wide / narrow < 2.4


def test_bin_means_beat_the_plain_envelope_by_an_order():
    federations = [smooth(k, "mean") for k in (25, 50, 100)]
    widths = [
        fp.theory.certify(federation, score_range=(0, 1)).width for federation in federations
    ]
    for federation, width in zip(federations, widths, strict=True):
        plain = _between_envelopes(Evidence.from_federation(federation, (0, 1)), 2, 0.0)

        assert width < (plain[1] - plain[0]) / 5
    for wide, narrow in pairwise(widths):
        assert wide / narrow > 2.4


def without_mean_squares(federation):
    nothing = np.full_like(federation.mean_squares, np.nan)
    return replace(federation, mean_squares=nothing)


def test_bin_means_alone_leave_open_what_falls_like_a_square():
    federations = [without_mean_squares(smooth(k, "mean")) for k in (25, 50, 100)]
    widths = [
        fp.theory.certify(federation, score_range=(0, 1)).width for federation in federations
    ]

    for wide, narrow in pairwise(widths):
        assert wide / narrow > 2.8


@pytest.mark.parametrize("kind", ["mean", "quantile", "counts"])
def test_a_mean_that_no_float_holds_is_certified_as_rounded(kind):
    """Half way between two floats: the mean of the cell is off by half a spacing."""
    spacing = float(np.spacing(1e12))
    scores = 1e12 + spacing * np.array([0, 1, 1000, 1000])
    groups = ["a", "a", "b", "b"]
    federation = fp.Federation.from_scores(
        scores, groups=groups, silos=[1] * 4, levels=1, kind=kind
    )
    certificate = fp.theory.certify(federation, score_range=(1e12, 1e12 + 1))

    assert fp.disparity(scores, sensitive_features=groups) in certificate


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("levels", [20, 100])
def test_mean_squares_narrow_the_certificate(order, levels):
    """Three times and more for p = 2; for p = 1, whose bound is of first order in them, by a third."""
    federation = smooth(levels, "mean")
    narrow, wide = (
        fp.theory.certify(each, score_range=(0, 1), order=order).width
        for each in (federation, without_mean_squares(federation))
    )

    assert narrow < wide / (3 if order == 2 else 1.5)


@pytest.mark.parametrize("order", [1, 2])
def test_the_upper_bound_from_mean_squares_is_attained(order):
    """One group spread out, the other constant: no better coupling than an independent one."""
    scores, groups = [0.3, 0.7, 0.5, 0.5], ["a", "a", "b", "b"]
    federation = fp.Federation.from_scores(
        scores, groups=groups, silos=[1] * 4, levels=1, kind="mean"
    )
    certificate = fp.theory.certify(federation, score_range=(0, 1), order=order)

    assert certificate.upper == pytest.approx(
        fp.disparity(scores, sensitive_features=groups, order=order)
    )


def test_the_upper_bound_for_rounded_means_is_attained():
    """Every mean off by half a step, in the direction that drives the groups apart."""
    cells = {
        (1, group): fp.Cell(
            count=4, values=[value, value], kind="mean", value_error=0.05, mean_square=0.05**2
        )
        for group, value in (("a", 0.3), ("b", 0.6))
    }
    certificate = fp.theory.certify(fp.Federation.from_cells(cells), score_range=(0, 1))
    attained = fp.disparity([0.25] * 4 + [0.65] * 4, sensitive_features=["a"] * 4 + ["b"] * 4)

    assert attained in certificate
    assert certificate.upper - attained < 2 * 0.05**2 / 4 + 1e-9


def test_counts_at_exact_scores_leave_nothing_open():
    random = np.random.default_rng(2)
    scores, groups = random.integers(1, 11, 500) * 1.0, random.integers(0, 6, 500)
    federation = fp.Federation.from_scores(
        scores, groups=groups, silos=random.integers(0, 4, 500), levels=1, kind="counts"
    )
    certificate = fp.theory.certify(federation, score_range=(1, 10))

    assert certificate.lower == pytest.approx(fp.disparity(scores, sensitive_features=groups))
    assert certificate.width < 1e-9


@pytest.mark.parametrize("groups", [2, 3, 6])
@pytest.mark.parametrize("kind", ["quantile", "mean", "counts"])
def test_outer_bounds_shrink_with_the_total_that_is_missing(groups, kind):
    """Whichever groups the missing records belong to, fewer of them can change less."""
    random = np.random.default_rng(groups)
    labels = random.integers(0, groups, 3000)
    scores = np.round(np.clip(random.normal(0.3 + 0.4 * labels / groups, 0.1), 0, 1), 2)
    federation = fp.Federation.from_scores(
        scores, groups=labels, silos=random.integers(0, 3, 3000), levels=50, kind=kind
    )
    anything = dict.fromkeys(federation.groups, math.inf)
    known = fp.theory.certify(federation, score_range=(0, 1))
    outer = [
        fp.theory.certify(federation, score_range=(0, 1), unseen=anything, unseen_total=total)
        for total in (math.inf, 3000, 300, 100, 30, 3, 0)
    ]

    assert (outer[0].lower, outer[0].upper) == (0.0, 0.25)
    assert outer[2] == fp.theory.certify(federation, score_range=(0, 1), unseen_total=300)
    for wide, narrow in pairwise(outer):
        assert wide.lower <= narrow.lower
        assert narrow.upper <= wide.upper
        assert narrow.width < wide.width
    assert outer[1].width < 0.25
    assert outer[3].lower > known.lower / 3
    assert outer[-1] == known


def test_a_rank_error_widens_the_certificate():
    cells = smooth(50, "quantile").cells
    widths = []
    for rank_error in (0.0, 0.005, 0.02):
        known = {
            key: fp.Cell(count=cell.count, values=cell.values, rank_error=rank_error)
            for key, cell in cells.items()
        }
        federation = fp.Federation.from_cells(known)
        widths.append(fp.theory.certify(federation, score_range=(0, 1)).width)

    assert widths[0] < widths[1] < widths[2]


def test_nothing_known_of_missing_records_means_nothing_certain():
    unseen = {"a": math.inf, "b": math.inf}
    certificate = fp.theory.certify(smooth(5, "mean"), score_range=(0, 1), unseen=unseen)

    assert (certificate.lower, certificate.upper) == (0.0, 0.25)


def test_one_group_without_limit_still_meets_the_other_one():
    """The law of the other group is known, and no share of two groups is worse than one half."""
    federation = smooth(5, "mean")
    certificate = fp.theory.certify(federation, score_range=(0, 1), unseen={"a": math.inf})
    farthest = np.mean(
        [cell.values**2 for (_, group), cell in federation.cells.items() if group == "b"]
    )

    assert certificate.lower == 0.0
    assert farthest / 4 < certificate.upper < 0.25


@pytest.mark.parametrize("score_range", [(1, 0), (0, 0), (0, math.inf), "ab", (0.3, 1)])
def test_a_wrong_range_is_refused(score_range):
    with pytest.raises(fp.errors.OptionError):
        fp.theory.certify(smooth(5, "quantile"), score_range=score_range)


@pytest.mark.parametrize("total", [-1, math.nan])
def test_a_total_that_is_no_number_is_refused(total):
    with pytest.raises(fp.errors.OptionError):
        fp.theory.certify(
            smooth(5, "mean"), score_range=(0, 1), unseen={"a": 5}, unseen_total=total
        )


@pytest.mark.parametrize("unseen", [{"a": -1}, {"a": math.nan}, {"A": 100}])
def test_unseen_records_that_are_no_numbers_or_of_no_group_are_refused(unseen):
    """A misspelled group must not pass for a complete audit."""
    with pytest.raises(fp.errors.OptionError):
        fp.theory.certify(smooth(5, "quantile"), score_range=(0, 1), unseen=unseen)


def test_unseen_records_leave_the_shares_of_the_groups_open():
    """A hundred more of one group would make the groups less even; there may also be none."""
    scores, labels = [0.0] * 50 + [1.0] * 50, ["a"] * 50 + ["b"] * 50
    federation = fp.Federation.from_scores(scores, groups=labels, silos=[1] * 100, levels=50)
    outer = fp.theory.certify(federation, score_range=(0, 1), unseen={"a": 100})

    assert fp.disparity(scores, sensitive_features=labels) in outer
    assert fp.disparity(scores + [0.0] * 100, sensitive_features=labels + ["a"] * 100) in outer


def test_records_moved_to_the_released_means_stay_in_the_wider_intervals():
    """The step of the proof for rounded bin means on which both convex bounds rest."""
    for seed in range(100):
        random = np.random.default_rng((seed, 13))
        levels, each = int(random.integers(1, 8)), int(random.integers(1, 5))
        bins = np.sort(random.beta(0.5, 0.5, levels * each)).reshape(levels, each)
        share = float(random.choice([0.01, 0.1]))
        released = round_values(bins.mean(axis=1), (0.0, 1.0), share)
        error = rounding_error((0.0, 1.0), share)
        cell = fp.Cell(count=bins.size, values=released, kind="mean", value_error=error)
        sketches = fp.Federation.from_cells({("x", "a"): cell, ("x", "b"): cell})
        around = bins_of(Evidence.from_federation(sketches, (0.0, 1.0)))
        low, high = around.moved

        moved = bins + (released - bins.mean(axis=1))[:, None]

        assert np.all(np.abs(moved - bins) <= error)
        assert np.all(bins >= around.low[:levels, None] - 1e-15)
        assert np.all(bins <= around.high[:levels, None] + 1e-15)
        assert np.all(moved >= low[:levels, None] - 1e-15)
        assert np.all(moved <= high[:levels, None] + 1e-15)
        assert np.all(bins.var(axis=1) <= around.variances[:levels] + 1e-15)
