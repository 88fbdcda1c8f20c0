"""Records of merged counts are put where all records together say that they are."""

import numpy as np
import pytest

import fedparity as fp
from fedparity.federated.reconstruction import spread_counts

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
        found = spread_counts(low, high, records, cells)
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
    found = spread_counts(low, high, records, np.zeros(30, np.int64))
    at = np.searchsorted(points, found.values)
    law = np.bincount(at, found.masses, points.size) / found.masses.sum()

    def likelihood(law):
        return records @ np.log(inside @ (law / law.sum()))

    best = likelihood(law)
    for _ in range(200):
        assert likelihood(law * np.exp(0.3 * random.standard_normal(law.size))) <= best + 1e-3


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
