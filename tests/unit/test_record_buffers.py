"""The room in which the records of a stream wait."""

import pickle

import numpy as np
import pytest

from fedparity.sketches.records import Batch
from fedparity.sketches.streaming import RecordBuffer

RANDOM = np.random.default_rng(5)


def batch(size, dtype=np.uint8, *, weighted=False):
    weights = RANDOM.random(size) if weighted else None
    return Batch(RANDOM.random(size), RANDOM.integers(0, 200, size).astype(dtype), weights)


def content(room):
    """All that waits, as one batch."""
    parts = list(room.batches())
    weights = None if parts[0].weights is None else np.concatenate([p.weights for p in parts])
    return Batch(
        np.concatenate([p.scores for p in parts]),
        np.concatenate([p.codes for p in parts]),
        weights,
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_records_wait_in_the_order_in_which_they_came(weighted):
    """Growing, emptying and filling again lose nothing and mix nothing up."""
    room = RecordBuffer()
    for sizes in ([3, 1000, 1], [5], [2000, 0, 7]):
        room.empty()
        given = [batch(size, weighted=weighted) for size in sizes]
        for each in given:
            room.add(each)

        found = content(room)

        assert room.size == sum(sizes)
        assert found.scores.tolist() == np.concatenate([g.scores for g in given]).tolist()
        assert found.codes.tolist() == np.concatenate([g.codes for g in given]).tolist()
        if weighted:
            assert found.weights.tolist() == np.concatenate([g.weights for g in given]).tolist()


def test_codes_of_a_wider_type_widen_those_that_wait():
    room = RecordBuffer()
    room.add(Batch(np.zeros(2), np.array([1, 255], np.uint8)))
    room.add(Batch(np.zeros(1), np.array([70_000], np.uint32)))

    assert content(room).codes.tolist() == [1, 255, 70_000]


def test_the_memory_of_a_batch_may_be_used_again():
    room, reused = RecordBuffer(), batch(4)
    expected = reused.scores.tolist()
    room.add(reused)
    reused.scores[:] = 9.0

    assert content(room).scores.tolist() == expected


def test_only_what_waits_is_pickled():
    """Not the room that is left, nor what waited before and may be another silo's."""
    room = RecordBuffer()
    room.add(batch(100_000))
    room.empty()
    room.add(batch(3))

    bytes_ = pickle.dumps(room)

    assert len(bytes_) < 1_000
    assert content(pickle.loads(bytes_)).scores.tolist() == content(room).scores.tolist()  # noqa: S301
