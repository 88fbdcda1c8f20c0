"""The nodes of a Flower run as an exchange."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic, sleep

import click
from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.common.constant import NUM_PARTITIONS_KEY, PARTITION_ID_KEY, ErrorCode
from flwr.serverapp import Grid, ServerApp

from fedparity.documents.plan import Plan
from fedparity.engines.remote.conversation import Answer, Folder, Loss, Member, Terms
from fedparity.engines.remote.remote_audit import run_audit
from fedparity.engines.remote.remote_silo import answer, simulated_settings
from fedparity.engines.remote.requests import Refusal, Reply, Request, guarded
from fedparity.engines.remote.settings import Scalar, SiloSettings
from fedparity.errors import FedparityError, MessageError, OptionError

__all__ = [
    "ACTION",
    "GridExchange",
    "auditor_app",
    "reply_content",
    "reply_of",
    "request_content",
    "request_of",
    "silo_app",
    "terms_of",
]

ACTION = "query.fedparity"
"""The type of every message."""
_RECORD = "fedparity"


def request_content(request: Request) -> RecordDict:
    """Return a request as the content of a message."""
    record = ConfigRecord({"step": request.step, "plan": request.plan_bytes})
    record["messages"] = list(request.messages)
    return RecordDict({_RECORD: record})


def request_of(message: Message) -> Request:
    """Return the request of a message that a silo received.

    Raises
    ------
    MessageError, PlanError
        If it holds none.
    """
    record = _record(message)
    step, plan, messages = record.get("step"), record.get("plan"), record.get("messages", [])
    if not (isinstance(step, str) and isinstance(plan, bytes) and isinstance(messages, list)):
        raise MessageError.field("the request", "a step, a plan and messages", record)
    parts = tuple(each for each in messages if isinstance(each, bytes))
    if len(parts) != len(messages):
        raise MessageError.field("the request", "messages in bytes", messages)
    return Request.decoded(step, plan, parts)


def reply_content(reply: Reply) -> RecordDict:
    """Return a reply as the content of a message."""
    record = ConfigRecord({"silo": reply.silo})
    if reply.message is not None:
        record["message"] = reply.message
    if reply.refused is not None:
        record["refused"] = reply.refused.value
    return RecordDict({_RECORD: record})


def reply_of(message: Message) -> Reply:
    """Return the reply of a message that the auditor received.

    Raises
    ------
    MessageError
        If it holds none; its content is not shown.
    """
    record = _record(message)
    silo, sketch, refused = record.get("silo"), record.get("message"), record.get("refused")
    word = next((each for each in Refusal if each.value == refused), None)
    if not isinstance(silo, str) or not isinstance(sketch, bytes | None):
        raise MessageError.field("the reply", "a silo and its message", record)
    if refused is not None and word is None:
        raise MessageError.field("the reply's refusal", "one of the known words", refused)
    return Reply(silo=silo, message=sketch, refused=word)


def _record(message: Message) -> ConfigRecord:
    record = message.content.get(_RECORD) if message.has_content() else None
    if not isinstance(record, ConfigRecord):
        raise MessageError.field("the message", "one with a record of fedparity", record)
    return record


_LOSSES = {
    ErrorCode.LOAD_CLIENT_APP_EXCEPTION: Loss.NOT_STARTED,
    ErrorCode.INVALID_FAB: Loss.NOT_STARTED,
    ErrorCode.MESSAGE_UNAVAILABLE: Loss.SILENT,
    ErrorCode.REPLY_MESSAGE_UNAVAILABLE: Loss.SILENT,
    ErrorCode.NODE_UNAVAILABLE: Loss.UNREACHABLE,
}
"""What Flower's codes mean; any other is a process that failed."""


class GridExchange:
    """Messages are pushed and pulled here, since Flower itself polls only every three seconds.

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
        """Send requests to nodes, and yield one answer for each; a reply is matched with its request."""
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
    """The reply; the text of an error is ignored, since it may contain anything."""
    if reply.has_error():
        return _LOSSES.get(reply.error.code, Loss.CRASHED)
    try:
        return reply_of(reply)
    except MessageError:
        return Loss.GARBLED


def auditor_app(plan: Plan | str | os.PathLike[str]) -> ServerApp:
    """Return the app of an auditor who requests the messages of a plan.

    Its run's configuration may set ``output``, ``quorum``, ``wait``, ``time-limit``,
    ``confidence``, ``seed`` and ``redraws``. Without a result it raises, and Flower calls the run
    failed and prints the error.
    """
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        chosen = plan if isinstance(plan, Plan) else Plan.read(plan)
        run = context.run_config
        folder = Folder(str(run.get("output") or f"fedparity-run-{context.run_id}"), chosen)
        run_audit(chosen, GridExchange(grid), terms_of(run), folder, tell=click.echo)

    return app


def terms_of(run: Mapping[str, Scalar]) -> Terms:
    """Return the terms that the configuration of a run sets; 0 means the default.

    Raises
    ------
    OptionError
        If a value is not a number.
    """
    try:
        return Terms(
            quorum=_whole(run.get("quorum", 0)) or None,
            wait=float(run.get("wait", 60.0)),
            limit=float(run.get("time-limit", 600.0)),
            confidence=float(run.get("confidence", 0.95)),
            seed=_whole(run.get("seed", 0)),
            redraws=_whole(run.get("redraws", 0)) or None,
        )
    except ValueError as error:
        if isinstance(error, FedparityError):
            raise
        raise OptionError(
            "a value in the configuration of the run is not a number.",
            fix="see [tool.flwr.app.config] in the pyproject.toml of the app.",
        ) from None


def _whole(value: Scalar) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError("not a whole number")
    return int(value)


def silo_app() -> ClientApp:
    """Return the app of a silo.

    Its node's configuration says which data are read under which plan; what the auditor's
    configuration says counts only for the nodes of a simulation, which have none of their own.
    """
    app = ClientApp()

    @app.query("fedparity")
    def reply(message: Message, context: Context) -> Message:
        silo = str(context.node_config.get("silo", ""))
        said = guarded(
            silo,
            lambda: request_of(message),
            lambda request: answer(request, _settings(request, context)),
        )
        return Message(reply_content(said), reply_to=message)

    return app


def _settings(request: Request, context: Context) -> SiloSettings:
    own = dict(context.node_config)
    position, partitions = own.pop(PARTITION_ID_KEY, None), own.pop(NUM_PARTITIONS_KEY, None)
    if own or not isinstance(position, int) or partitions is None:
        return SiloSettings.from_mapping(own)
    return simulated_settings(request.plan, position, context.run_config, context.run_id)
