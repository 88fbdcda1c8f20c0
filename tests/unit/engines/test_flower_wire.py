"""Requests and replies as Flower carries them: the same after a wire, and nothing trusted."""

import pytest
from tests.engine_harness import some_plan

import fedparity as fp

pytest.importorskip("fedparity.engines.flower.apps", reason="fedparity[flower] is not installed")

from flwr.app import ArrayRecord, ConfigRecord, Error, Message, MetricRecord, RecordDict
from tests.flower_grid import LocalGrid, travelled

from fedparity.engines.flower.apps import (
    ACTION,
    reply_content,
    reply_of,
    request_content,
    request_of,
)
from fedparity.engines.remote.requests import STEPS, Refusal, Reply, Request

LocalGrid({})  # gives this process the identity that messages are stamped with
PLAN = some_plan()


def sent(content):
    """A message with this content, after a wire."""
    return travelled(Message(content, 10, ACTION))


def record(**fields):
    return RecordDict({"fedparity": ConfigRecord(fields)})


@pytest.mark.parametrize("messages", [(), (b"{}",), (b"", b"\x00\xff", b"x" * 1000)])
@pytest.mark.parametrize("step", STEPS)
def test_a_request_arrives_as_it_was_sent(step, messages):
    request = Request(step=step, plan=PLAN, messages=messages)

    came = request_of(sent(request_content(request)))

    assert (came.step, came.messages) == (step, messages)
    assert came.plan.digest == PLAN.digest


@pytest.mark.parametrize(
    "reply",
    [
        Reply(silo="aurora", message=b"{}"),
        Reply(silo="", message=b""),
        Reply(silo="Zürich / 東", message=bytes(range(256))),
        *(Reply(silo="aurora", refused=word) for word in Refusal),
    ],
)
def test_a_reply_arrives_as_it_was_sent(reply):
    assert reply_of(sent(reply_content(reply))) == reply


PLAN_BYTES = Request(step="sketch", plan=PLAN).plan_bytes
BAD_REQUESTS = {
    "no record": RecordDict({}),
    "another record": RecordDict({"fedparity": MetricRecord({"a": 1.0})}),
    "arrays": RecordDict({"fedparity": ArrayRecord()}),
    "no step": record(plan=PLAN_BYTES),
    "an unknown step": record(step="secrets", plan=PLAN_BYTES),
    "a number for a step": record(step=1, plan=PLAN_BYTES),
    "no plan": record(step="sketch"),
    "a plan as text": record(step="sketch", plan=PLAN_BYTES.decode()),
    "a plan that is none": record(step="sketch", plan=b"{}"),
    "bytes that are no plan": record(step="sketch", plan=b"\xff"),
    "deep brackets": record(step="sketch", plan=b"[" * 100_000),
    "a message as text": record(step="keys", plan=PLAN_BYTES, messages="{}"),
    "messages as text": record(step="keys", plan=PLAN_BYTES, messages=["{}"]),
    "messages as numbers": record(step="keys", plan=PLAN_BYTES, messages=[1, 2]),
}


@pytest.mark.parametrize("content", BAD_REQUESTS.values(), ids=BAD_REQUESTS.keys())
def test_a_request_that_is_none_is_refused(content):
    with pytest.raises(fp.errors.DocumentError):
        request_of(sent(content))


BAD_REPLIES = {
    "no record": RecordDict({}),
    "another record": RecordDict({"fedparity": MetricRecord({"a": 1.0})}),
    "nothing in it": record(),
    "no silo": record(message=b"{}"),
    "a number for a silo": record(silo=1, message=b"{}"),
    "neither message nor refusal": record(silo="aurora"),
    "both": record(silo="aurora", message=b"{}", refused="failed"),
    "a message as text": record(silo="aurora", message="{}"),
    "a list of messages": record(silo="aurora", message=[b"{}"]),
    "an unknown refusal": record(silo="aurora", refused="SECRET-0.7131"),
    "a message beside an unknown refusal": record(silo="a", message=b"{}", refused="no word"),
    "a list of refusals": record(silo="aurora", refused=["failed"]),
    "a number for a refusal": record(silo="aurora", refused=0),
    "bytes for a refusal": record(silo="aurora", refused=b"failed"),
}


@pytest.mark.parametrize("content", BAD_REPLIES.values(), ids=BAD_REPLIES.keys())
def test_a_reply_that_is_none_is_refused_and_not_shown(content):
    with pytest.raises(fp.errors.MessageError) as caught:
        reply_of(sent(content))

    assert "SECRET" not in str(caught.value)


def test_an_error_of_flower_is_no_reply():
    asked = Message(request_content(Request(step="sketch", plan=PLAN)), 10, ACTION)

    with pytest.raises(fp.errors.MessageError):
        reply_of(Message(Error(code=2, reason="x"), reply_to=asked))
