"""The nodes of a Flower run as an exchange."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import monotonic, sleep

from flwr.app import Message
from flwr.common.constant import ErrorCode
from flwr.serverapp import Grid

from fedparity.engines.flower.wire import ACTION, reply_of, request_content
from fedparity.engines.remote.exchange import Answer, Loss, Member
from fedparity.engines.remote.wording import Reply, Request
from fedparity.errors import MessageError

__all__ = ["GridExchange"]

_LOSSES = {
    ErrorCode.LOAD_CLIENT_APP_EXCEPTION: Loss.NOT_STARTED,
    ErrorCode.INVALID_FAB: Loss.NOT_STARTED,
    ErrorCode.MESSAGE_UNAVAILABLE: Loss.SILENT,
    ErrorCode.REPLY_MESSAGE_UNAVAILABLE: Loss.SILENT,
    ErrorCode.NODE_UNAVAILABLE: Loss.UNREACHABLE,
}
"""What Flower's codes mean; any other is a process that failed."""


class GridExchange:
    """Messages are pushed and pulled here, since Flower's own waiting looks every three seconds.

    Parameters
    ----------
    grid : Grid
    pause : float
        Seconds between two looks.
    """

    def __init__(self, grid: Grid, *, pause: float = 0.25) -> None:
        self._grid, self._pause = grid, pause

    def members(self) -> Sequence[Member]:
        """Return the nodes that are connected."""
        nodes = self._grid.get_nodes()
        return sorted(
            (Member(str(node.node_id), node.name or None) for node in nodes),
            key=lambda member: int(member.node),
        )

    def ask(self, requests: Mapping[Member, Request], seconds: float) -> Iterator[Answer | None]:
        """Ask nodes, and yield one answer for each; a reply is matched by what it replies to."""
        contents = {
            number: request_content(request)
            for number, request in {id(each): each for each in requests.values()}.items()
        }
        messages = [
            Message(contents[id(request)], int(member.node), ACTION, ttl=seconds)
            for member, request in requests.items()
        ]
        deadline = monotonic() + seconds
        pushed = list(self._grid.push_messages(messages))
        waiting: dict[str, Member] = {}
        for position, member in enumerate(requests):
            number = pushed[position] if position < len(pushed) else None
            if number:
                waiting[number] = member
            else:
                yield Answer(member, Loss.UNREACHABLE)
        while waiting:
            left = deadline - monotonic()  # before the look: the last one comes after the deadline
            for reply in self._grid.pull_messages(list(waiting)):
                member_of = waiting.pop(reply.metadata.reply_to_message_id, None)
                if member_of is not None:
                    yield Answer(member_of, _read(reply))
            if left <= 0:
                break
            if waiting:
                yield None
                sleep(min(self._pause, left))
        for member in waiting.values():
            yield Answer(member, Loss.SILENT)


def _read(reply: Message) -> Reply | Loss:
    """What came; the text of an error is not looked at, since it may hold anything."""
    if reply.has_error():
        return _LOSSES.get(reply.error.code, Loss.CRASHED)
    try:
        return reply_of(reply)
    except MessageError:
        return Loss.GARBLED
