"""``fedparity keygen``: a pair of keys, the private one in a file that only its owner reads."""

from __future__ import annotations

import json
import os

import click

from fedparity.cli.options import passphrase_option
from fedparity.documents.fields import is_name
from fedparity.documents.files import read_passphrase, write_whole
from fedparity.documents.signing import generate_key, public_text, write_key
from fedparity.errors import OptionError, OutputError
from fedparity.errors.base import printable

__all__ = ["keygen"]


@click.command
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
