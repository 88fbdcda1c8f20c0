"""The options of whoever signs: the file of a key, and of its passphrase."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from fedparity.protocol.secret_files import read_passphrase
from fedparity.protocol.signature import read_key

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["SIGN_OPTIONS", "passphrase_option", "private_key", "sign_options", "signing_key"]

passphrase_option = click.option(
    "--passphrase-file",
    metavar="FILE",
    help="First line: the key's passphrase; - reads it from the input.",
)
SIGN_OPTIONS = (
    click.option("--sign", metavar="KEY", help="File of the private key to sign with."),
    passphrase_option,
)


def sign_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a key."""
    for option in reversed(SIGN_OPTIONS):
        command = option(command)
    return command


def signing_key(options: Mapping[str, Any]) -> Ed25519PrivateKey | None:
    """Return the key that the options name, or None if they name none."""
    file: str | None = options["passphrase_file"]
    if options["sign"] is None:
        if file is not None:
            raise click.UsageError("--passphrase-file needs a key: --sign KEY.")
        return None
    return private_key(options["sign"], file)


def private_key(path: str, passphrase_file: str | None) -> Ed25519PrivateKey:
    """Return the key of a file.

    A passphrase that no option names is asked for, if somebody sits at the terminal.
    """

    def passphrase() -> bytes | None:
        if passphrase_file is not None:
            return read_passphrase(passphrase_file)
        if not sys.stdin.isatty():
            return None
        typed: str = click.prompt("Passphrase of the key", hide_input=True, err=True)
        return typed.encode()

    return read_key(path, passphrase=passphrase)
