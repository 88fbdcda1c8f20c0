"""Every magnitude of the raw data lies between the bounds that sketches give it."""

import math
from dataclasses import replace
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from tests.oracles.record_magnitudes import record_magnitudes
from tests.random_federations import disclosed, random_data, with_hidden
from tests.tiers import count

import fedparity as fp
from fedparity.federated.estimate import estimate
from fedparity.uncertainty.magnitudes import magnitudes

CASES = count(quick=10, all=25, soak=5_000)
"""Random federations of the longest test; a soak test asks for more."""
EXACT = fp.Method(estimator="exact")


def brackets(found, truth, width=1.0):
    """Pairs of a bracket and the number of the raw data that it must contain."""
    worst = max(found.pairs, key=lambda pair: truth.distances[pair.groups]).groups
    yield "points", found.points, math.sqrt(truth.disparity)
    yield "worst pair", found.worst_pair.distance, truth.worst
    yield "share of range", found.worst_pair.share_of_range, truth.worst / width
    for pair in found.pairs:
        yield f"distance {pair.groups}", pair.distance, truth.distances[pair.groups]
        yield f"gap {pair.groups}", pair.mean_gap, truth.mean_gaps[pair.groups]
    yield "variance", found.variance, truth.variance
    yield "deviation", found.standardized.deviation, truth.deviation
    if truth.variance:
        yield "variance share", found.variance_share, truth.disparity / truth.variance
    if truth.disparity:
        yield "location share", found.location_share, truth.of_means / truth.disparity
        yield "shape share", found.shape_share, 1 - truth.of_means / truth.disparity
    if truth.within:
        yield "distance in deviations", found.standardized.distance, truth.worst / truth.deviation
        if worst == found.worst_pair.groups:
            gap = truth.mean_gaps[worst] / truth.deviation
            yield "gap in deviations", found.standardized.mean_gap, gap
    for group, burden in truth.burdens.items():
        yield f"burden {group}", found.burden[group], burden
    yield "equal weights", found.equal_weights, truth.equal_weights
    yield "cramer index", found.cramer_index, truth.cramer_index


def assert_contains(found, truth, width=1.0):
    outside = [
        (name, bracket, number)
        for name, bracket, number in brackets(found, truth, width)
        if number not in bracket
    ]
    assert not outside


@pytest.mark.sampled
def test_the_magnitudes_of_the_raw_data_never_leave_their_bounds():
    """Two to six groups, all kinds, rounded or not, with rank errors, mean squares or none."""
    for seed in range(CASES):
        random = np.random.default_rng((seed, 7))
        scores, labels, silos = random_data(random, most_groups=6 if seed % 10 == 0 else 4)
        federation = disclosed(scores, labels, silos, random)
        found = magnitudes(federation, EXACT, score_range=(0, 1))

        assert_contains(found, record_magnitudes(scores.tolist(), labels.tolist()))


@pytest.mark.sampled
def test_unseen_records_do_not_take_magnitudes_out_of_their_bounds():
    for seed in range(CASES):
        random = np.random.default_rng((seed, 8))
        scores, labels, silos = random_data(random)
        federation = disclosed(scores, labels, silos, random)
        everyone, groups, most, total = with_hidden(scores, labels, federation, random)
        found = magnitudes(federation, EXACT, score_range=(0, 1), unseen=most, unseen_total=total)

        assert_contains(found, record_magnitudes(everyone.tolist(), groups))


@pytest.mark.parametrize("kind", ["counts", "mean"])
@pytest.mark.parametrize("counts", [(30, 3, 0, 3), (30, 3, 3, 3), (5, 5, 2, 5), (3, 12, 6, 4)])
def test_every_split_of_hidden_records_between_the_ends(counts, kind):
    """A group at the bottom, one at both ends, and a few records of either at either end.

    In a small group one of them counts for more than in a large one.
    """
    of_a, of_b, at_top, hidden = counts
    scores = [0.0] * of_a + [0.0] * (of_b - at_top) + [1.0] * at_top
    groups = ["a"] * of_a + ["b"] * of_b
    federation = fp.Federation.from_scores(
        scores, groups=groups, silos=[1] * len(scores), levels=of_b, kind=kind
    )
    found = magnitudes(
        federation,
        EXACT,
        score_range=(0, 1),
        unseen={"a": math.inf, "b": math.inf},
        unseen_total=hidden,
    )
    ends = [("a", 0.0), ("a", 1.0), ("b", 0.0), ("b", 1.0)]
    for size in range(hidden + 1):
        for split in combinations_with_replacement(ends, size):
            everyone = [*scores, *(place for _, place in split)]
            truth = record_magnitudes(everyone, [*groups, *(group for group, _ in split)])

            assert_contains(found, truth)


@pytest.mark.sampled
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7, 1e8, -1e8, 1e12])
def test_a_large_offset_does_not_take_them_out_either(offset):
    for seed in range(CASES // 3):
        random = np.random.default_rng((seed, 9))
        scores, labels, silos = random_data(random)
        moved = scores + offset
        kind = random.choice(["quantile", "mean", "counts"])
        federation = fp.Federation.from_scores(
            moved, groups=labels, silos=silos, levels=4, kind=kind
        )
        found = magnitudes(federation, EXACT, score_range=(offset - 0.5, offset + 1.5))

        assert_contains(found, record_magnitudes(moved.tolist(), labels.tolist()), width=2.0)


def counted(random, most_groups=4):
    """A federation that holds every record, and what its magnitudes must be."""
    scores, labels, silos = random_data(random, most_groups)
    federation = fp.Federation.from_scores(
        scores, groups=labels, silos=silos, levels=1, kind="counts"
    )
    found = magnitudes(federation, EXACT, score_range=(0, 1))
    return found, record_magnitudes(scores.tolist(), labels.tolist())


@pytest.mark.sampled
def test_with_every_record_known_the_estimates_are_the_magnitudes():
    """Against rational arithmetic that shares no line with the library."""
    for seed in range(CASES):
        found, truth = counted(np.random.default_rng((seed, 10)), 6)
        for name, bracket, number in brackets(found, truth):
            assert bracket.value == pytest.approx(number, rel=1e-12, abs=1e-12), name
            assert bracket.upper - bracket.lower < 1e-4 or name.endswith("in deviations"), name


@pytest.mark.sampled
def test_the_identities_that_make_them_readable_hold():
    """U = Var(Z) - Var(Z*), so B <= U <= Var, and shares are shares."""
    for seed in range(CASES):
        found, truth = counted(np.random.default_rng((seed, 11)))
        disparity = found.points.value**2

        assert disparity == pytest.approx(truth.variance - truth.of_targets, abs=1e-12)
        assert truth.of_means - 1e-12 <= disparity <= truth.variance + 1e-12
        assert 0 <= found.variance_share.value <= 1
        assert 0 <= found.location_share.value <= 1


@pytest.mark.sampled
def test_burdens_follow_from_distances():
    """A squared burden is the mean squared distance to all groups, less the disparity."""
    for seed in range(CASES):
        random = np.random.default_rng((seed, 12))
        federation = disclosed(*random_data(random, 6), random)
        found = magnitudes(federation, EXACT, score_range=(0, 1))
        squares = {frozenset(pair.groups): pair.distance.value**2 for pair in found.pairs}
        disparity = found.points.value**2
        shares = dict(zip(federation.groups, federation.shares, strict=True))
        total = sum(shares[group] * found.burden[group].value ** 2 for group in shares)

        assert total == pytest.approx(disparity, abs=1e-12)
        for group in shares:
            mean = sum(
                shares[other] * squares[frozenset((group, other))]
                for other in shares
                if other != group
            )
            assert found.burden[group].value ** 2 == pytest.approx(mean - disparity, abs=1e-12)


@pytest.mark.parametrize("estimator", ["grid", "exact"])
@pytest.mark.parametrize("kind", ["quantile", "mean", "counts"])
def test_estimates_are_those_of_the_audit(estimator, kind):
    """Whatever the order and the trim of the audit: magnitudes are of order 2, of whole laws."""
    random = np.random.default_rng(4)
    scores, labels, silos = random_data(random, 4)
    federation = fp.Federation.from_scores(scores, groups=labels, silos=silos, levels=5, kind=kind)
    federation = replace(federation, score_range=(0.0, 1.0))
    method = fp.Method(estimator=estimator)
    found = magnitudes(federation, method, score_range=(0, 1))
    pairs = {pair.groups: pair for pair in fp.theory.pairs(federation, method)}

    assert found.points.value**2 == pytest.approx(
        estimate(federation, method).disparity, rel=1e-12
    )
    for pair in found.pairs:
        assert pair.distance.value == pytest.approx(pairs[pair.groups].wasserstein, rel=1e-12)
        assert pair.mean_gap.value == pytest.approx(pairs[pair.groups].mean_gap, rel=1e-12)
    for other in (replace(method, order=1), replace(method, trim=0.2)):
        assert magnitudes(federation, other, score_range=(0, 1)) == found


def of_two(a, b, **options):
    federation = fp.Federation.from_scores(
        [*a, *b],
        groups=["a"] * len(a) + ["b"] * len(b),
        silos=[1] * (len(a) + len(b)),
        levels=1,
        kind="counts",
    )
    return magnitudes(federation, EXACT, score_range=(0, 10), **options)


def test_the_direction_is_named():
    higher = of_two([1, 2, 3], [4, 5, 6])
    lower = of_two([4, 5, 6], [1, 2, 3])

    assert (higher.higher, higher.differs_in) == ("b", "level")
    assert (lower.higher, lower.differs_in) == ("a", "level")
    assert lower.worst_pair.mean_gap.value == pytest.approx(3)
    assert lower.worst_pair.share_of_range.value == pytest.approx(0.3)


def test_equal_means_are_a_difference_in_spread():
    found = of_two([4, 5, 6], [2, 5, 8])

    assert (found.higher, found.differs_in) == (None, "spread")
    assert found.location_share.value == 0.0
    assert found.shape_share.value == 1.0


def test_equal_laws_differ_in_nothing():
    found = of_two([4, 5, 6], [4, 5, 6])

    assert (found.higher, found.differs_in) == (None, None)
    assert found.points.value == found.variance_share.value == found.worst_pair.distance.value == 0


def test_constant_groups_are_infinitely_many_deviations_apart():
    found = of_two([4, 4], [5, 5])

    assert found.standardized.distance.value == math.inf
    assert found.standardized.mean_gap.value == -math.inf
    assert found.variance_share.value == 1.0


def test_a_small_group_counts_as_much_as_a_large_one_where_sizes_should_not_matter():
    """The same two laws, one group ten or a hundred times as large: U falls, the index does not."""
    found = [of_two([1, 2, 3] * times, [4, 5, 6]) for times in (1, 10, 100)]

    for large, small in pairwise(found):
        assert small.points.value < large.points.value / 1.5
        assert small.equal_weights.value == pytest.approx(large.equal_weights.value)
        assert small.worst_pair.distance.value == pytest.approx(large.worst_pair.distance.value)


def test_nothing_known_of_missing_records_leaves_nothing_but_the_range():
    found = of_two([1, 2, 3], [4, 5, 6], unseen={"a": math.inf, "b": math.inf})

    assert found.points.lower == 0.0
    assert found.points.upper == pytest.approx(5)
    assert found.worst_pair.distance.upper == 10.0
    assert (found.variance_share.lower, found.variance_share.upper) == (0.0, 1.0)


def test_mean_squares_make_the_variance_known_up_to_its_rounding():
    random = np.random.default_rng(5)
    scores, labels = random.beta(3, 4, 2000), random.integers(0, 2, 2000)
    federation = fp.Federation.from_scores(
        scores, groups=labels, silos=random.integers(0, 3, 2000), levels=10, kind="mean"
    )
    found = magnitudes(federation, EXACT, score_range=(0, 1))

    assert found.variance.value == pytest.approx(float(np.var(scores)), rel=1e-10)
    assert found.variance.upper - found.variance.lower < 1e-9
