"""A round's state is secret, whole, and held by one process at a time."""

import os
import stat
import threading

import pytest
from tests.secure_rounds import Rounds, secure_plan, some_vectors

import fedparity as fp
from fedparity.modes.secure.silo_state import RoundState, StateFile

PLAN = secure_plan(3)


@pytest.fixture
def file(tmp_path):
    return StateFile(tmp_path / "aurora.secure-state")


@pytest.fixture
def state():
    """The state of a silo that has uploaded."""
    rounds = Rounds(PLAN).share()
    rounds.mask_all(some_vectors(PLAN))
    return rounds.states["aurora"]


def test_a_state_is_read_as_it_was_written(file, state):
    file.create(state)

    with file.held() as found:
        assert found == state


@pytest.mark.skipif(os.name == "nt", reason="there are no such permissions")
def test_only_the_owner_may_read_it_even_after_a_step(file, state):
    file.create(state)
    with file.held() as held:
        file.replace(held)

    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert [each.name for each in file.path.parent.iterdir()] == [file.path.name]


def test_a_second_round_does_not_overwrite_the_first(file, state):
    file.create(state)

    with pytest.raises(fp.errors.RoundStateError, match="holds the state of a round"):
        file.create(RoundState.fresh(PLAN.digest, "aurora"))


def test_a_missing_state_is_said_to_be_missing(file):
    with (
        pytest.raises(fp.errors.RoundStateError, match="run fedparity secure keys first"),
        file.held(),
    ):
        pass


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda _: b"{}",
        lambda data: data.replace(b"secure-state/1", b"secure-state/2"),
        lambda data: data.replace(b'"seed":"', b'"seed":"AA'),
        lambda data: data.replace(b'"held":{', b'"held":{"x":[1],'),
        lambda data: data.replace(b'"sent":{', b'"sent":{"x":{"schema":"a"},'),
    ],
)
def test_a_damaged_state_is_refused_without_showing_what_it_holds(file, state, damage):
    file.create(state)
    file.path.write_bytes(damage(file.path.read_bytes()))

    with pytest.raises(fp.errors.RoundStateError, match="it is damaged") as caught, file.held():
        pass
    assert "AA" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_steps_wait_for_each_other(file, state):
    """A step that comes while another one is made finds the state that it left."""
    file.create(RoundState.fresh(state.plan, "aurora"))
    message = state.sent["keys"]
    started, seen = threading.Event(), []

    def second():
        started.set()
        with file.held() as held:
            seen.append(tuple(held.sent))

    with file.held() as held:
        other = threading.Thread(target=second)
        other.start()
        started.wait()
        file.replace(held.after("keys", message))
    other.join()

    assert seen == [("keys",)]


def test_what_was_sent_can_be_sent_again_and_nothing_else(state):
    assert state.sent_again("mask") == state.sent["mask"]
    with pytest.raises(fp.errors.RoundError, match="has not sent its unmask yet"):
        state.sent_again("unmask")
