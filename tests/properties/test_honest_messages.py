"""Whatever a silo's records are, what it releases passes every check of the auditor."""

import numpy as np
import pytest
from tests.tiers import count

import fedparity as fp
from fedparity.modes.mode import mode_of
from fedparity.sketches.records import ArrayRecords
from fedparity.sketches.select import ComputeOptions

KINDS = ("mean", "quantile", "counts")


def drawn_plan(random):
    """A plan of any kind of sketch, with rules of any strength."""
    kind = str(random.choice(KINDS))
    low = float(random.choice([0, -3, 1e6, 0.1]))
    step = float(random.choice([0.1, 0.5, 1]))
    stepped = kind == "counts" or random.random() < 0.3
    bounds = (low, low + 20 * step) if stepped else (low, low + float(random.choice([1, 7, 1e-3])))
    rules = {
        "minimum_cell": int(random.choice([1, 3, 11, 20])),
        "records_per_level": int(random.choice([0, 2, 10, 15])),
    }
    if kind == "mean" or not stepped:
        rules["rounding"] = float(random.choice([0, 0.001, 0.005, 0.1]))
    inner = np.sort(random.choice(np.linspace(*bounds, 9)[1:], int(random.integers(3)), False))
    return fp.Plan(
        title="any",
        groups=("A", "B", "C"),
        score_range=bounds,
        score_step=step if stepped else None,
        sketch=kind,
        levels=int(random.choice([1, 4, 30, 100])),
        thresholds=inner.tolist(),
        disclosure=rules,
        totals={"s": 900} if random.random() < 0.3 else {},
    )


def drawn_records(random, plan):
    """Records of three groups, few or many, spread, tied or at one point, weighted or not."""
    size = int(random.choice([30, 200, 2000]))
    low, high = plan.score_range
    shape = float(random.choice([0.05, 1, 8]))
    scores = low + (high - low) * random.beta(shape, float(random.choice([0.05, 1, 8])), size)
    if plan.score_step is not None:
        scores = plan.score_points[
            np.abs(scores[:, None] - plan.score_points[None, :]).argmin(axis=1)
        ]
    elif random.random() < 0.3:
        scores = np.clip(np.round(scores, 1), low, high)
    groups = random.choice(3, size, p=random.dirichlet([0.5, 1, 1])).astype(np.uint16)
    weights = None
    if random.random() < 0.4:
        weights = random.choice([0.1, 1 / 3, 1.0, 7.0], size) * random.choice([1, 1e-3, 1e4])
    return ArrayRecords(
        tuple(plan.groups),
        np.clip(scores, low, high),
        groups,
        weights,
        rescannable=bool(random.random() < 0.7),
        block=100,
        resident=False,
    )


@pytest.mark.sampled
def test_an_honest_release_is_accepted():
    for seed in range(count(quick=300, all=2_000, soak=20_000)):
        random = np.random.default_rng(seed)
        plan = drawn_plan(random)
        records = drawn_records(random, plan)
        release = mode_of(plan).release(records, "s", ComputeOptions(memory=1000, resolution=64))

        fp.documents.check_message(plan, fp.SiloSketch.from_bytes(release.sketch.to_bytes()))
