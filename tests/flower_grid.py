"""Flower's own apps in one process: a grid without sockets, whose messages are serialized."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import fedparity.engines.flower  # noqa: F401 -- first: it switches off what Flower does unasked

# isort: split
from flwr.app import Context, Error, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.common.constant import ErrorCode
from flwr.common.serde import recorddict_from_proto, recorddict_to_proto
from flwr.common.serde_utils import error_from_proto, error_to_proto
from flwr.proto.node_pb2 import NodeInfo
from flwr.proto.recorddict_pb2 import RecordDict as ProtoRecordDict
from flwr.serverapp import Grid, ServerApp
from flwr.supercore.task_identity import TaskIdentity

__all__ = ["RUN", "LocalGrid", "run_server"]

RUN = 17
Handler = Callable[[Message, Context], Message | None]


class LocalGrid(Grid):
    """Nodes that answer when they are asked; their handlers may fail, stay silent, or lie."""

    def __init__(
        self,
        nodes: Mapping[int, tuple[Handler | ClientApp, Mapping[str, Any]]],
        *,
        run_config: Mapping[str, Any] | None = None,
        names: Mapping[int, str] | None = None,
    ) -> None:
        TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = RUN, 1, 1
        self._names = dict(names or {})
        self._handlers = {node: handler for node, (handler, _) in nodes.items()}
        self._contexts = {
            node: Context(
                run_id=RUN,
                node_id=node,
                node_config=dict(config),
                state=RecordDict(),
                run_config=dict(run_config or {}),
            )
            for node, (_, config) in nodes.items()
        }
        self._box: dict[str, list[Message]] = {}
        self.asked: list[tuple[int, str]] = []

    def set_run(self, run: object) -> None:
        """Forget it."""

    @property
    def run(self) -> Any:
        """No run."""
        return None

    def create_message(self, *_: object, **__: object) -> Message:
        """Flower does not ask for it any more."""
        raise NotImplementedError

    def get_node_ids(self) -> list[int]:
        """All nodes."""
        return list(self._contexts)

    def get_nodes(self) -> list[NodeInfo]:
        """All nodes, with the names they are registered under."""
        return [NodeInfo(node_id=n, name=self._names.get(n, "")) for n in self._contexts]

    def push_messages(self, messages: Iterable[Message]) -> list[str]:
        """Let every node answer, and return the numbers of the messages."""
        numbers = []
        for message in messages:
            number = f"message-{len(self.asked)}"
            message.metadata.__dict__["_message_id"] = number
            node = message.metadata.dst_node_id
            self.asked.append((node, str(message.content["fedparity"]["step"])))
            arrived = travelled(message)
            arrived.metadata.__dict__["_message_id"] = number
            self._box[number] = self._replies(node, arrived)
            numbers.append(number)
        return numbers

    def _replies(self, node: int, message: Message) -> list[Message]:
        try:
            reply = self._handlers[node](message, self._contexts[node])
        except Exception as error:  # noqa: BLE001 -- as Flower does, text and all
            reason = f"{type(error)}:<'{error}'>"
            reply = Message(
                Error(code=ErrorCode.CLIENT_APP_RAISED_EXCEPTION, reason=reason), reply_to=message
            )
        return [] if reply is None else [travelled(reply)]

    def pull_messages(self, message_ids: Iterable[str]) -> list[Message]:
        """The replies to these messages, each once."""
        return [reply for number in message_ids for reply in self._box.pop(number, [])]

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> Any:
        """Not used: its waiting is not ours."""
        raise NotImplementedError


def travelled(message: Message) -> Message:
    """The message as it is after a wire."""
    if message.has_error():
        copy = Message(error_from_proto(error_to_proto(message.error)), reply_to=message)
    else:
        data = recorddict_to_proto(message.content).SerializeToString()
        content = recorddict_from_proto(ProtoRecordDict.FromString(data))
        copy = Message(content, dst_node_id=1, message_type=message.metadata.message_type)
    copy.metadata.__dict__.update(message.metadata.__dict__)
    return copy


def run_server(app: ServerApp, grid: LocalGrid, run_config: Mapping[str, Any]) -> None:
    """Run the auditor's app on a grid."""
    context = Context(
        run_id=RUN, node_id=1, node_config={}, state=RecordDict(), run_config=dict(run_config)
    )
    app(grid, context)
