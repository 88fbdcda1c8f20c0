"""Flower as the engine of an audit: two apps that translate, and know nothing else.

Extra ``[flower]``. The auditor's app requests the message of its silo from every node; the silo's app
reads the node's own configuration and takes the steps that ``fedparity sketch`` and
``fedparity secure`` take. What Flower does by default beyond that (telemetry, the check for updates,
installing packages) is switched off here.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

__all__ = ["QUIET", "be_quiet"]

QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""Variables of the environment of every process of Flower; they are read when it starts."""


def be_quiet(environment: MutableMapping[str, str] | None = None) -> None:
    """Set the variables, over whatever they were: in this process's environment if none is given."""
    (os.environ if environment is None else environment).update(QUIET)


be_quiet()  # before anything of Flower is imported
