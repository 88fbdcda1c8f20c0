"""The auditor's app: what the SuperLink of Flower runs."""

from __future__ import annotations

import os
from collections.abc import Mapping

import click
from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from fedparity.engines.flower.grid_exchange import GridExchange
from fedparity.engines.remote.auditor import run_audit
from fedparity.engines.remote.keeping import Folder
from fedparity.engines.remote.settings import Scalar
from fedparity.engines.remote.terms import Terms
from fedparity.errors import FedparityError, OptionError
from fedparity.protocol.plan import Plan

__all__ = ["auditor_app", "terms_of"]


def auditor_app(plan: Plan | str | os.PathLike[str]) -> ServerApp:
    """Return the app of an auditor who asks what a plan says.

    Its run's configuration may set ``output``, ``quorum``, ``wait``, ``time-limit``,
    ``confidence``, ``seed`` and ``redraws``. Without a result it raises, and Flower calls the run
    failed and prints the error.
    """
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        asked = plan if isinstance(plan, Plan) else Plan.read(plan)
        run = context.run_config
        folder = Folder(str(run.get("output") or f"fedparity-run-{context.run_id}"), asked)
        run_audit(asked, GridExchange(grid), terms_of(run), folder, tell=click.echo)

    return app


def terms_of(run: Mapping[str, Scalar]) -> Terms:
    """Return the terms that the configuration of a run sets; 0 stands for the default.

    Raises
    ------
    OptionError
        If a value is none.
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
            "a number in the configuration of the run is none.",
            fix="see [tool.flwr.app.config] in the pyproject.toml of the app.",
        ) from None


def _whole(value: Scalar) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError("not a whole number")
    return int(value)
