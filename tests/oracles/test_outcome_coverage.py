"""Intervals of areas and error rates hold as often as they say: a short run of the benchmark."""

import pytest
from benchmarks.outcome_coverage import AreaWorld, RateWorld, failures, run
from tests.tiers import count

REPLICATES = count(quick=300, all=300, soak=2000)  # fewer say too little of one percent
WORLDS = [
    AreaWorld("normal", 0.7, (15, 15)),
    AreaWorld("exponential", 0.9, (30, 30)),
    AreaWorld("wide negatives", 0.8, (100, 30)),
    AreaWorld("deciles", 0.7, (30, 100)),
    RateWorld((0.3, 0.24), 30),
    RateWorld((0.5, 0.4), 100),
]


@pytest.mark.sampled
def test_intervals_of_areas_and_error_rates_cover_as_often_as_they_say():
    assert failures([run(world, REPLICATES) for world in WORLDS]) == []
