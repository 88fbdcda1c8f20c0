"""Records of merged counts are put where all records together say that they are."""

import numpy as np
import pytest
from scipy.stats import binom

import fedparity as fp
from fedparity.federated.count_spreading import spread_counts
from fedparity.privacy.count_merging import merged_runs, read_counts

POINTS = np.arange(1.0, 11.0)


def cell(values, masses, errors):
    return fp.Cell(
        count=sum(masses),
        values=np.array(values, dtype=float),
        masses=np.array(masses),
        value_error=np.array(errors, dtype=float),
        kind="counts",
    )


def test_no_record_is_lost_or_leaves_its_run():
    random = np.random.default_rng(0)
    for _ in range(50):
        ends = random.choice(POINTS, (20, 2))
        low, high = ends.min(axis=1), ends.max(axis=1)
        cells = np.sort(random.integers(0, 4, 20))
        records = random.integers(1, 40, 20).astype(float)
        found = spread_counts(low, high, records, cells, np.array([0, 1, 0, 1]))
        owner = np.repeat(np.arange(found.levels.size), found.levels)

        assert np.bincount(owner, found.masses) == pytest.approx(np.bincount(cells, records))
        for each in np.unique(cells):
            own = found.values[owner == each]
            mine = cells == each
            assert all(((low[mine] <= v) & (v <= high[mine])).any() for v in own)
            assert (np.diff(own) > 0).all()


def test_the_law_is_the_likeliest_one():
    """No law near the one that is found makes the counts more likely."""
    random = np.random.default_rng(1)
    low, high = np.sort(random.choice(POINTS, (2, 30)), axis=0)
    records = random.integers(1, 30, 30).astype(float)
    points = np.unique(np.concatenate((low, high)))
    inside = (low[:, None] <= points) & (points <= high[:, None])
    cells = np.zeros(30, np.int64)
    found = spread_counts(low, high, records, cells, np.zeros(1, np.int64))
    at = np.searchsorted(points, found.values)
    law = np.bincount(at, found.masses, points.size) / found.masses.sum()

    def likelihood(law):
        return records @ np.log(inside @ (law / law.sum()))

    best = likelihood(law)
    for _ in range(200):
        assert likelihood(law * np.exp(0.3 * random.standard_normal(law.size))) <= best + 1e-3


def test_what_is_below_the_end_of_a_run_is_a_binomial_number_below_its_limit():
    """At two scores half of all records each: of 25, at most 10 of them at the lower one."""
    known, run = ([1.0, 2.0], [5e6, 5e6]), ([1.5, 2.0], [10.0, 15.0])
    low, high = np.array([1.0, 2.0, 1.0, 2.0]), np.array([1.0, 2.0, 2.0, 2.0])
    records = np.array(known[1] + run[1])

    found = spread_counts(low, high, records, np.array([0, 0, 1, 1]), np.zeros(2, np.int64))

    masses = binom.pmf(np.arange(11), 25, 0.5)
    assert found.masses[2] == pytest.approx(masses @ np.arange(11) / masses.sum(), abs=1e-3)
    assert found.masses[2:].sum() == pytest.approx(25)


def test_a_limit_above_a_run_is_read_as_one_below():
    """The scores turned round: the records are where they were."""
    low, high = np.array([1.0, 2.0, 2.0, 5.0]), np.array([2.0, 2.0, 4.0, 5.0])
    records, cells, groups = np.array([10.0, 30.0, 10.0, 40.0]), np.zeros(4, int), np.zeros(1, int)

    found = spread_counts(low, high, records, cells, groups)
    turned = spread_counts(-high[::-1], -low[::-1], records[::-1], cells, groups)

    assert turned.masses == pytest.approx(found.masses[::-1], abs=1e-6)


def test_a_group_is_tilted_as_far_as_its_counts_tell():
    """Half of a group is known to be low, where a third of all others is: so are those between."""
    low, high = np.array([1.0, 2.0, 3.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0, 1.0, 3.0])
    records, cells = np.array([4e6, 4e6, 4e6, 600.0, 600.0]), np.array([0, 0, 0, 1, 1])

    apart = spread_counts(low, high, records, cells, np.array([0, 1])).masses[3:]

    # The likeliest law is a tilt of equal parts, cut down by the penalty: t, t^2 and t^3 with t + t^2 = 1.
    assert apart[0] == pytest.approx(600)
    assert apart[1] / apart[2] == pytest.approx((1 + 5**0.5) / 2, rel=0.02)


@pytest.mark.parametrize("step", [1.0, 0.1])
def test_merged_counts_of_many_cells_give_back_the_law_of_their_group(step):
    """Twenty silos of sixty records: the mean is found twice as well as from the middles of runs."""
    random, points = np.random.default_rng(3), step * POINTS
    laws = np.array([[9, 8, 7, 6, 5, 4, 3, 2, 1, 1], [2, 3, 4, 5, 6, 6, 5, 4, 3, 2]], dtype=float)
    laws /= laws.sum(axis=1, keepdims=True)
    records = [[random.multinomial(60, law) for _ in range(20)] for law in laws]
    cells = {}
    for group, own in zip("ab", records, strict=True):
        for silo, numbers in enumerate(own):
            runs = merged_runs(numbers, 11)
            starts = np.append(0, runs.ends[:-1] + 1)[runs.counted]
            sent = iter(np.add.reduceat(numbers, starts).tolist())
            counts = [next(sent) if counted else None for counted in runs.counted]
            read = read_counts(points[runs.ends], counts, points, minimum=11)
            cells[silo, group] = fp.Cell(
                count=60,
                values=read.values,
                masses=read.masses,
                value_error=read.errors,
                kind="counts",
            )
    whole = fp.Federation.from_cells(cells)
    found, rough = fp.theory.mixtures(whole), fp.theory.mixtures(whole, reconstruct=False)

    for group, own in zip("ab", records, strict=True):
        truth = np.mean(own, axis=0) @ points / 60
        assert abs(found[group].mean - truth) < 0.5 * abs(rough[group].mean - truth) + 0.02 * step


def test_what_counts_do_not_tell_is_no_disparity():
    """A group all of whose records are somewhere on the scale has the law of the others."""
    known = cell(POINTS, [90, 70, 50, 40, 30, 25, 20, 15, 12, 11], np.zeros(10))
    unknown = cell([5.5], [16], [4.5])
    whole = fp.Federation.from_cells({("s", "a"): known, ("s", "b"): unknown})
    laws = fp.theory.mixtures(whole)

    assert laws["b"].mean == pytest.approx(laws["a"].mean, abs=1e-6)
    assert fp.theory.estimate(whole).disparity == pytest.approx(0.0, abs=1e-9)


def test_exact_counts_stay_as_they_are():
    whole = fp.Federation.from_cells(
        {("s", g): cell(POINTS, [3] * 10, np.zeros(10)) for g in "ab"}
    )

    assert whole.reconstructed is whole


def test_a_group_whose_counts_are_merged_is_named_and_its_distances_are_wide():
    """Five silos of sixteen people each, whose counts are merged to one: their scores are hardly known."""
    random = np.random.default_rng(2)
    plan = fp.Plan(
        title="merged", groups=("many", "few"), score_range=(1, 10), score_step=1, levels=10
    )
    scores = {"many": random.integers(1, 11, (5, 400)), "few": random.integers(1, 6, (5, 16))}
    messages = [
        fp.sketch(
            {
                "z": np.concatenate([scores[group][silo] for group in scores]).astype(float),
                "g": np.repeat(list(scores), [400, 16]),
            },
            plan=plan,
            silo=str(silo),
            score="z",
            group="g",
            ledger=False,
        )
        for silo in range(5)
    ]
    result = fp.audit(plan, messages)
    (pair,) = result.pairs
    pooled = [fp.Law.from_scores(scores[group].ravel().astype(float)) for group in scores]
    named = [each.text for each in result.warnings if each.code == "merged_counts"]

    assert pair.interval.lower <= fp.wasserstein(*pooled) <= pair.interval.upper
    assert len(named) == 1
    assert "group few" in named[0]
