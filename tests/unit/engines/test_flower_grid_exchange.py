"""Asking over a grid: replies are matched by what they answer, and nobody is waited for too long."""

from types import SimpleNamespace

import pytest
from tests.engine_harness import some_plan
from tests.remote_exchange import Clock

pytest.importorskip("fedparity.engines.flower.apps", reason="fedparity[flower] is not installed")

from flwr.app import Error, Message
from flwr.common.constant import ErrorCode
from tests.flower_grid import LocalGrid

from fedparity.engines.flower import apps as grid_exchange
from fedparity.engines.flower.apps import ACTION, GridExchange, reply_content
from fedparity.engines.remote.conversation import Loss, Member
from fedparity.engines.remote.requests import Reply, Request

LocalGrid({})  # gives this process the identity that messages are stamped with
ASKED = Request(step="sketch", plan=some_plan())
SECONDS = 5.0


class TimedGrid:
    """A grid whose replies come at given times; ``{node: seconds}``, and nothing from others."""

    def __init__(self, clock, coming, *, unpushed=(), said=None):
        self.clock, self.coming, self.unpushed = clock, coming, unpushed
        self.said = said or {}
        self.sent, self.began = {}, clock.now

    def push_messages(self, messages):
        """Number the messages."""
        numbers = []
        for message in messages:
            node = message.metadata.dst_node_id
            message.metadata.__dict__["_message_id"] = f"m{node}"
            self.sent[f"m{node}"] = message
            numbers.append("" if node in self.unpushed else f"m{node}")
        return numbers

    def pull_messages(self, message_ids):
        """What has come by now, the last one first."""
        came = []
        for number in reversed(message_ids):
            node = int(number[1:])
            if self.clock.now - self.began >= self.coming.get(node, 1e9):
                reply = Reply(silo=self.said.get(node, f"s{node}"), message=b"{}")
                came.append(Message(reply_content(reply), reply_to=self.sent[number]))
        return came


def asked(grid, nodes, clock, monkeypatch):
    """What came of asking these nodes, in the order in which it came."""
    clock.rules(monkeypatch, grid_exchange)
    requests = {Member(str(node)): ASKED for node in nodes}
    answers = [each for each in GridExchange(grid).ask(requests, SECONDS) if each is not None]
    return [(int(a.member.node), getattr(a.came, "silo", a.came)) for a in answers]


def test_replies_are_matched_by_what_they_answer(monkeypatch):
    """Whatever they say of themselves, and in whatever order they come."""
    clock = Clock()
    grid = TimedGrid(clock, {1: 1.0, 2: 1.0, 3: 0.0}, said={1: "s2", 2: "s1"})

    found = asked(grid, [1, 2, 3], clock, monkeypatch)

    assert found == [(3, "s3"), (2, "s1"), (1, "s2")]


def test_who_has_not_replied_when_time_is_up_is_silent(monkeypatch):
    clock = Clock()

    found = asked(TimedGrid(clock, {1: 0.0, 2: 5.3}), [1, 2, 3], clock, monkeypatch)

    assert found == [(1, "s1"), (2, Loss.SILENT), (3, Loss.SILENT)]
    assert sum(clock.slept) == pytest.approx(SECONDS)


def test_a_reply_of_the_last_moment_counts(monkeypatch):
    """There is one more look after the last pause."""
    clock = Clock()

    found = asked(TimedGrid(clock, {1: SECONDS - 0.01}), [1], clock, monkeypatch)

    assert found == [(1, "s1")]


def test_replies_count_that_came_while_messages_were_pushed(monkeypatch):
    """However long that took: they are there, so they are read."""
    clock = Clock()
    grid = TimedGrid(clock, {1: 0.0})
    push = grid.push_messages

    def slow(messages):
        clock.now += 2 * SECONDS
        return push(messages)

    grid.push_messages = slow

    assert asked(grid, [1], clock, monkeypatch) == [(1, "s1")]


def test_nobody_is_waited_for_once_all_have_replied(monkeypatch):
    clock = Clock()

    asked(TimedGrid(clock, {1: 0.0, 2: 0.4}), [1, 2], clock, monkeypatch)

    assert sum(clock.slept) <= 0.5


def test_a_message_that_could_not_be_pushed_is_told_at_once(monkeypatch):
    clock = Clock()

    found = asked(TimedGrid(clock, {1: 0.0, 2: 0.0}, unpushed={2}), [1, 2], clock, monkeypatch)

    assert found == [(2, Loss.UNREACHABLE), (1, "s1")]


def test_messages_that_were_not_numbered_are_unreachable(monkeypatch):
    clock = Clock()
    grid = TimedGrid(clock, {1: 0.0, 2: 0.0})
    push = grid.push_messages
    grid.push_messages = lambda messages: push(messages)[:1]

    found = asked(grid, [1, 2], clock, monkeypatch)

    assert found == [(2, Loss.UNREACHABLE), (1, "s1")]


def test_a_reply_to_nothing_that_was_asked_is_ignored(monkeypatch):
    clock = Clock()
    grid = TimedGrid(clock, {1: 0.0})
    stray = Message(reply_content(Reply(silo="s1", message=b"?")), 10, ACTION)
    pull = grid.pull_messages
    grid.pull_messages = lambda numbers: [stray, *pull(numbers)]

    assert asked(grid, [1], clock, monkeypatch) == [(1, "s1")]


def test_while_nothing_comes_none_is_yielded(monkeypatch):
    clock = Clock()
    clock.rules(monkeypatch, grid_exchange)
    grid = TimedGrid(clock, {1: 1.0})

    found = list(GridExchange(grid, pause=0.5).ask({Member("1"): ASKED}, SECONDS))

    assert found[:2] == [None, None]
    assert len(found) == 3


def test_messages_do_not_outlive_the_time_limit(monkeypatch):
    clock = Clock()
    grid = TimedGrid(clock, {})

    asked(grid, [1], clock, monkeypatch)

    assert grid.sent["m1"].metadata.ttl == SECONDS


CODES = {
    ErrorCode.UNKNOWN: Loss.CRASHED,
    ErrorCode.LOAD_CLIENT_APP_EXCEPTION: Loss.NOT_STARTED,
    ErrorCode.CLIENT_APP_RAISED_EXCEPTION: Loss.CRASHED,
    ErrorCode.MESSAGE_UNAVAILABLE: Loss.SILENT,
    ErrorCode.REPLY_MESSAGE_UNAVAILABLE: Loss.SILENT,
    ErrorCode.NODE_UNAVAILABLE: Loss.UNREACHABLE,
    ErrorCode.MOD_FAILED_PRECONDITION: Loss.CRASHED,
    ErrorCode.INVALID_FAB: Loss.NOT_STARTED,
    ErrorCode.CLIENT_APP_CRASHED: Loss.CRASHED,
    99: Loss.CRASHED,
}


@pytest.mark.parametrize("code", CODES)
def test_every_error_of_flower_has_its_word(code, monkeypatch):
    clock = Clock()
    grid = TimedGrid(clock, {})
    grid.pull_messages = lambda numbers: [
        Message(Error(code=code, reason="SECRET-0.7131"), reply_to=grid.sent[numbers[0]])
    ]

    assert asked(grid, [1], clock, monkeypatch) == [(1, CODES[code])]


def test_every_code_of_flower_is_in_the_table():
    """A new one must be thought of."""
    known = {value for name, value in vars(ErrorCode).items() if name.isupper()}

    assert known == set(CODES) - {99}


def test_members_are_the_nodes_in_order_with_the_names_they_are_registered_under():
    nodes = [SimpleNamespace(node_id=number, name=name) for number, name in [(30, ""), (4, "a")]]

    found = GridExchange(SimpleNamespace(get_nodes=lambda: nodes)).members()

    assert found == [Member("4", "a"), Member("30", None)]
