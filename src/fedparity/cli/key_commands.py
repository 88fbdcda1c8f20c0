"""``fedparity keygen``: a pair of keys, the private one in a file that only its owner reads."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

import click

from fedparity.cli.options import PASSPHRASE_FILE, option, with_options
from fedparity.cli.output import note
from fedparity.documents.fields import is_name
from fedparity.documents.files import read_secret, write_whole
from fedparity.documents.signing import generate_key, public_text, write_key
from fedparity.errors import OptionError, OutputError
from fedparity.errors.base import printable

__all__ = ["KeygenOptions", "keygen"]


@dataclass(frozen=True)
class KeygenOptions:
    """The passphrase of the new key, if it has one."""

    passphrase: bool = option("--passphrase", "Prompt for a passphrase to encrypt the key with.")
    passphrase_file: str | None = option(*PASSPHRASE_FILE)

    def secret(self) -> bytes | None:
        """Return the passphrase, read from its file or typed twice."""
        if self.passphrase_file is not None:
            return read_secret(self.passphrase_file)
        if not self.passphrase:
            return None
        typed = click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)
        return str(typed).encode()


@click.command
@click.argument("name", type=click.Path(dir_okay=False))
@with_options(KeygenOptions)
def keygen(name: str, options: KeygenOptions) -> None:
    """Write NAME.key, which stays here, and NAME.pub, for the auditor.

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
    write_key(f"{name}.key", key, passphrase=options.secret())
    write_whole(public, f"{public_text(key)}\n".encode())
    click.echo(f"{json.dumps(silo, ensure_ascii=False)} = {json.dumps(public_text(key))}")
    note(
        f"wrote {printable(name)}.key, which stays here, and {printable(public)}, which goes to the auditor:\n"
        "the line above belongs under [keys] of the plan"
    )
