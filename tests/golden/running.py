"""Commands and engines run with fixed randomness in a folder of their own.

Whatever is not public is imported here and nowhere else in this folder. Randomness is fixed where it
enters from outside (the operating system and OpenDP), so that no module of the package is named.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from click.testing import CliRunner, Result
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from opendp.mod import Measurement
from tests.engine_harness import FlowerRun
from tests.laws import LENIENT

from fedparity.cli.main import cli

__all__ = ["FlowerRun", "cli", "made_key", "ok", "run", "sandbox"]


def run(*arguments: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(cli, list(map(str, arguments)), prog_name="fedparity")


def ok(*arguments: object) -> str:
    """Run a command that must end well, and return what it printed."""
    done = run(*arguments)
    assert done.exit_code == 0, (arguments, done.output, done.exception)
    return done.stdout


def made_key(path: str, seed: int) -> str:
    """Write a private key that is always the same, and return its public part as plans hold it."""
    key = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
    text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    Path(path).touch(mode=0o600)
    Path(path).write_bytes(text)
    info = serialization.PublicFormat.SubjectPublicKeyInfo
    public = key.public_key().public_bytes(serialization.Encoding.PEM, info)
    Path(path).with_suffix(".pub").write_bytes(public)
    return b64encode(key.public_key().public_bytes_raw()).decode()


@contextmanager
def sandbox() -> Iterator[Path]:
    """Be in an empty folder, under a lenient policy, with fixed randomness and 80 columns."""
    keys, shares, noise = map(Random, ("keys", "shares", "noise"))

    def noisy(_: Measurement, counts: list[int]) -> list[int]:
        return [n + round(noise.expovariate(1) - noise.expovariate(1)) for n in counts]

    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        state = Path(stack.enter_context(TemporaryDirectory()))
        (state / "policy.toml").write_text(LENIENT)
        stack.enter_context(chdir(folder))
        environment = {
            "COLUMNS": "80",
            "FEDPARITY_LEDGER": str(state / "ledger.jsonl"),
            "FEDPARITY_POLICY": str(state / "policy.toml"),
            "HOME": str(state),
            "XDG_CONFIG_HOME": str(state),
            "XDG_STATE_HOME": str(state),
        }
        stack.enter_context(mock.patch.dict(os.environ, environment))
        patches: list[tuple[Any, Any]] = [
            ("os.urandom", keys.randbytes),
            ("random._urandom", shares.randbytes),  # what the module secrets draws from
        ]
        for name, source in patches:
            stack.enter_context(mock.patch(name, source))
        stack.enter_context(mock.patch("sys.argv", ["fedparity"]))  # it is named in some words
        stack.enter_context(mock.patch.object(Measurement, "__call__", noisy))
        yield folder
