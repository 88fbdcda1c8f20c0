"""What a message tells of a single record: a short run of ``benchmarks/disclosure_attacks.py``."""

import numpy as np
import pytest
from benchmarks.disclosure_attacks import RULES, Population, Rule, error_of_two, pinned_share, tell

import fedparity as fp
from fedparity.privacy.disclosure import round_values

SCORES = {
    "uniform": Population("uniform", lambda random, size: random.random(size)),
    "beta": Population("beta", lambda random, size: random.beta(2, 5, size), 0.3),
    "lognormal": Population(
        "lognormal", lambda random, size: np.minimum(random.lognormal(0, 1, size) / 50, 1), 0.05
    ),
}
MEANS = RULES["means to 0.005"]
EXACT = RULES["and an exact mean square"]
MESSAGE = RULES["and a threshold: the message"]


@pytest.mark.parametrize("kind", ["mean", "quantile"])
@pytest.mark.parametrize("size", [11, 29, 204])
def test_the_attacker_knows_what_a_silo_computes(kind, size):
    random = np.random.default_rng(size)
    records = random.random(size)
    told = tell(
        np.sort(records[1:]), records[:1], SCORES["uniform"], Rule(kind=kind, rounding=0.01)
    )
    law = fp.Law.from_scores(records)
    values = (fp.theory.bin_means if kind == "mean" else fp.theory.quantile_values)(
        law, told.values.shape[1]
    )

    assert told.values[0].tolist() == round_values(values, (0.0, 1.0), 0.01).tolist()


@pytest.mark.parametrize("size", [11, 20, 50, 200])
@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES.keys())
def test_all_other_records_and_the_whole_message_pin_few(scores, size):
    """As with rounded means alone; a mean square that is not rounded would pin every one."""
    message, span = pinned_share(scores, size, MESSAGE, 60)
    exact, _ = pinned_share(scores, size, EXACT, 60)

    assert exact > 0.95
    assert message <= 0.12
    assert span > 0.015


@pytest.mark.parametrize("size", [11, 20, 50, 200])
@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES.keys())
def test_the_mean_square_tells_hardly_more_than_the_means(scores, size):
    with_square = Rule(thresholds=False)
    alone, alone_span = pinned_share(scores, size, MEANS, 60)
    both, both_span = pinned_share(scores, size, with_square, 60)

    assert both <= alone + 0.05
    assert both_span >= 0.85 * alone_span


@pytest.mark.parametrize("size", [12, 52])
@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES.keys())
def test_two_releases_with_a_mean_square_tell_hardly_more_than_two_with_means(scores, size):
    alone = error_of_two(scores, size, MEANS, 60)
    both = error_of_two(scores, size, Rule(thresholds=False), 60)

    assert both >= 0.75 * alone
    assert size > 20 or error_of_two(scores, size, EXACT, 60) < 0.003
