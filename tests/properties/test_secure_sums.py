"""Masks cancel in every sum that may be opened, and hide everything else."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from tests.secure_rounds import Rounds, answered, secure_plan, some_vectors
from tests.strategies import half

import fedparity as fp
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.masking import masked, new_secret, total
from fedparity.modes.secure.round_messages import MaskedVector
from fedparity.modes.secure.round_progress import open_sum
from fedparity.modes.secure.secure_mode import SecureMode
from fedparity.modes.secure.shamir import SHARE_BYTES, join, split
from fedparity.tables.opening import open_records


def subsets(items, least):
    """All subsets of at least so many items."""
    return chain.from_iterable(combinations(items, n) for n in range(least, len(items) + 1))


@pytest.mark.parametrize("silos", [4, 5])
def test_every_set_of_survivors_down_to_the_threshold_sums_exactly(silos):
    """The sum over any survivors is exactly the plain sum, and any t answers open it."""
    plan = secure_plan(silos)
    vectors = some_vectors(plan)
    threshold = plan.privacy.threshold
    for survivors in subsets(plan.silos, threshold):
        kept = {silo: vectors[silo] for silo in survivors}
        for answering in combinations(survivors, threshold):
            found = open_sum(plan, answered(plan, kept, answering).inbox)

            assert found.vector.tolist() == sum(kept.values()).tolist()
            assert found.survivors == tuple(sorted(survivors))


@pytest.mark.parametrize("uploads", [0, 1, 2])
def test_fewer_vectors_than_the_threshold_open_nothing(uploads):
    """With fewer uploads than the threshold there is no request, and the error says so."""
    plan = secure_plan(4)
    vectors = dict(list(some_vectors(plan).items())[:uploads])
    rounds = Rounds(plan).share().mask_all(vectors)

    with pytest.raises(
        fp.errors.MessageError, match=f"{uploads} masked vectors arrived, but 3 are needed"
    ):
        rounds.request()


@pytest.mark.parametrize("answers", [0, 1, 2])
def test_fewer_answers_than_the_threshold_open_nothing(answers):
    """With fewer answers than the threshold nothing is rebuilt, and the error says so."""
    plan = secure_plan(4)
    rounds = answered(plan, some_vectors(plan), plan.silos[:answers])

    with pytest.raises(fp.errors.MessageError, match="nothing at all can be learned"):
        open_sum(plan, rounds.inbox)


@half
@given(st.data())
def test_masks_cancel_whatever_the_numbers(data):
    """Sums are exact for any 64-bit numbers, as long as the sum itself fits."""
    words = st.integers(-(2**61), 2**61)
    rows = data.draw(st.lists(st.lists(words, min_size=3, max_size=3), min_size=2, max_size=4))
    names = [f"silo {i}" for i in range(len(rows))]
    own = {name: new_secret() for name in names}
    pairs = {frozenset(pair): new_secret() for pair in combinations(names, 2)}
    sent = [
        masked(
            np.array(row),
            name,
            own[name],
            {other: pairs[frozenset((name, other))] for other in names if other != name},
        )
        for name, row in zip(names, rows, strict=True)
    ]

    assert total(sent, own=own.values()).tolist() == np.sum(rows, axis=0).tolist()


def test_masked_numbers_look_uniform():
    """Every byte of a masked vector of zeros is as frequent as any other (chi-square, 1e-6)."""
    plan = secure_plan(3, privacy={"bins": 2048})
    zeros = {silo: np.zeros(Layout.of(plan).length, np.int64) for silo in plan.silos}
    rounds = Rounds(plan).share().mask_all(zeros)
    for message in rounds.of(MaskedVector):
        seen = np.bincount(np.frombuffer(message.vector, np.uint8), minlength=256)
        expected = seen.sum() / 256
        statistic = ((seen - expected) ** 2 / expected).sum()

        assert chi2.sf(statistic, 255) > 1e-6


def test_two_rounds_of_the_same_numbers_share_no_mask():
    """Masked twice, in two rounds, the difference is as random as each of them."""
    plan = secure_plan(3)
    zeros = {silo: np.zeros(Layout.of(plan).length, np.int64) for silo in plan.silos}
    first, second = (
        Rounds(plan).share().mask_all(zeros).of(MaskedVector)[0].words for _ in range(2)
    )

    assert not (first == second).any()


@half
@given(st.binary(min_size=32, max_size=32), st.data())
def test_any_threshold_of_shares_rebuilds_a_secret_and_fewer_do_not(secret, data):
    holders = data.draw(st.integers(2, 9))
    threshold = data.draw(st.integers(2, holders))
    shares = dict(enumerate(split(secret, holders=holders, threshold=threshold), start=1))
    chosen = data.draw(st.permutations(sorted(shares)))

    assert join({x: shares[x] for x in chosen[:threshold]}) == secret
    assert join({x: shares[x] for x in chosen[: threshold - 1]}) != secret


def test_fewer_shares_than_the_threshold_fit_any_secret():
    """For every secret there is a last share that completes the others to it: they say nothing."""
    secret, other = bytes(32), bytes(range(32))
    shares = dict(enumerate(split(secret, holders=3, threshold=3), start=1))
    prime = 2**521 - 1
    known = {x: int.from_bytes(shares[x], "big") for x in (1, 2)}
    # The value at 0 of the parabola through x = 1, 2, 3 is 3 y1 - 3 y2 + y3.
    last = (int.from_bytes(other, "big") - 3 * known[1] + 3 * known[2]) % prime
    forged = {1: shares[1], 2: shares[2], 3: last.to_bytes(SHARE_BYTES, "big")}

    assert join(forged) == other


@st.composite
def summed_plans(draw):
    """A plan of a secure sum without noise: any grid, groups and thresholds."""
    step = draw(st.sampled_from([None, 0.125]))
    return fp.Plan(
        title="Q4",
        groups=tuple("ABC"[: draw(st.integers(2, 3))]),
        score_range=(0.0, 1.0),
        score_step=step,
        thresholds=sorted(draw(st.sets(st.sampled_from([0.25, 0.3, 0.875]), max_size=3))),
        order=draw(st.sampled_from([1, 2])),
        silos=("a", "b", "c"),
        privacy={"mode": "secure", "bins": draw(st.integers(4, 9))},
    )


@st.composite
def some_rows(draw, plan):
    """A table of some records; rows without a score are dropped."""
    scores = st.sampled_from([*np.arange(9) / 8, np.nan])
    rows = draw(st.lists(st.tuples(scores, st.sampled_from(plan.groups)), min_size=1, max_size=30))
    return [row for row, _ in rows], [row for _, row in rows]


def vector_of(plan, scores, groups):
    records = open_records(
        {"score": np.array(scores, dtype=float), "group": np.array(groups, dtype=str)},
        score="score",
        group="group",
        groups=plan.groups,
        missing="drop",
    )
    return SecureMode(plan).vector(records)


@half
@given(st.data())
def test_every_number_of_the_vector_is_additive_in_the_records(data):
    """The vector of two disjoint tables together is the sum of theirs.

    So it is a linear function of the histogram, and the sum over silos tells nothing that the
    histogram of all records does not tell.
    """
    plan = data.draw(summed_plans())
    (one, first), (other, second) = (data.draw(some_rows(plan)) for _ in range(2))

    together = vector_of(plan, one + other, first + second)

    apart = vector_of(plan, one, first) + vector_of(plan, other, second)
    assert together.tolist() == apart.tolist()
    assert together.sum() == len(one + other)
