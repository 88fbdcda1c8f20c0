"""The silo's app: what a node of Flower runs when the auditor asks it."""

from __future__ import annotations

from flwr.app import Context, Message
from flwr.clientapp import ClientApp
from flwr.common.constant import NUM_PARTITIONS_KEY, PARTITION_ID_KEY

from fedparity.engines.flower.wire import reply_content, request_of
from fedparity.engines.remote.refusing import guarded
from fedparity.engines.remote.settings import SiloSettings
from fedparity.engines.remote.silo import answer
from fedparity.engines.remote.simulated import simulated_settings
from fedparity.engines.remote.wording import Request

__all__ = ["silo_app"]


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
        return SiloSettings.of(own)
    return simulated_settings(request.plan, position, context.run_config, context.run_id)
