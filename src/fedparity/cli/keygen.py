"""``fedparity keygen``: a pair of keys, the private one in a file that only its owner reads."""

from __future__ import annotations

import json
import os

import click

from fedparity.errors import OutputError
from fedparity.protocol.files import write_whole
from fedparity.protocol.signature import generate_key, public_text, write_key

__all__ = ["keygen"]


@click.command(short_help="Make a key to sign messages with.")
@click.argument("name", type=click.Path(dir_okay=False))
def keygen(name: str) -> None:
    """Write NAME.key, which stays in the building, and NAME.pub, which goes to the auditor.

    NAME is the silo's name in the plan, with a folder before it if you like. The line for the
    plan's [keys] is printed. Keys are Ed25519; no file is ever overwritten.

    \b
    Examples:
      fedparity keygen aurora
      fedparity keygen keys/aurora
    """
    public = f"{name}.pub"
    if os.path.lexists(public):
        raise OutputError.key_exists(public)
    key = generate_key()
    write_key(f"{name}.key", key)
    write_whole(public, f"{public_text(key)}\n".encode())
    silo = os.path.basename(name)  # noqa: PTH119 -- pathlib takes 7 ms to import
    click.echo(f"{json.dumps(silo, ensure_ascii=False)} = {json.dumps(public_text(key))}")
    click.echo(
        f"wrote {name}.key, which stays here, and {public}, which goes to the auditor:\n"
        "the line above belongs under [keys] of the plan",
        err=True,
    )
