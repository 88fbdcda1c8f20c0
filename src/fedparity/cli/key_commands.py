"""``fedparity keygen``: a pair of keys, the private one in a file that only its owner reads."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from fedparity.documents.fields import is_name
from fedparity.documents.files import read_passphrase, write_whole
from fedparity.documents.signing import generate_key, public_text, read_key, write_key
from fedparity.errors import OptionError, OutputError
from fedparity.errors.base import printable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = [
    "SIGN_OPTIONS",
    "keygen",
    "passphrase_option",
    "private_key",
    "sign_options",
    "signing_key",
]

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


@click.command(short_help="Make a key to sign messages with.")
@click.argument("name", type=click.Path(dir_okay=False))
@click.option("--passphrase", is_flag=True, help="Ask for a passphrase to encrypt the key with.")
@passphrase_option
def keygen(name: str, passphrase_file: str | None, *, passphrase: bool) -> None:
    """Write NAME.key, which stays in the building, and NAME.pub, which goes to the auditor.

    NAME is the silo's name in the plan, with a folder before it if you like. The line for the
    plan's [keys] is printed. Keys are Ed25519; no file is ever overwritten.

    \b
    Examples:
      fedparity keygen aurora
      fedparity keygen keys/aurora --passphrase
      fedparity keygen keys/aurora --passphrase-file aurora.pass
    """
    silo = os.path.basename(name)  # noqa: PTH119 -- pathlib takes 7 ms to import
    if not is_name(silo):
        raise OptionError(
            "a silo's name has 1 to 200 characters, all of which can be seen.",
            fix="choose a NAME as the plan can hold it.",
        )
    public = f"{name}.pub"
    if os.path.lexists(public):
        raise OutputError.key_exists(public)
    key = generate_key()
    secret = None if passphrase_file is None else read_passphrase(passphrase_file)
    if passphrase and secret is None:
        words = click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)
        secret = str(words).encode()
    write_key(f"{name}.key", key, passphrase=secret)
    write_whole(public, f"{public_text(key)}\n".encode())
    click.echo(f"{json.dumps(silo, ensure_ascii=False)} = {json.dumps(public_text(key))}")
    click.echo(
        f"wrote {printable(name)}.key, which stays here, and {printable(public)}, which goes to the auditor:\n"
        "the line above belongs under [keys] of the plan",
        err=True,
    )
