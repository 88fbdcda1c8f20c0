"""``fedparity plan sign``: the auditor's signature, for silos that obey only auditors they know."""

from __future__ import annotations

import click

from fedparity.cli.signing import passphrase_option, private_key
from fedparity.errors.base import printable
from fedparity.protocol.files import write_whole
from fedparity.protocol.plan import Plan
from fedparity.protocol.plan_reading import read_plan_text
from fedparity.protocol.plan_signature import sign_plan, signed_text
from fedparity.protocol.signature import public_text

__all__ = ["sign"]


@click.command(short_help="Sign a plan, for silos that obey only known auditors.")
@click.argument("file", type=click.Path())
@click.option("--key", required=True, metavar="KEY", help="File of the auditor's private key.")
@passphrase_option
@click.option("-o", "--output", metavar="FILE", help="File to write.  [default: the plan itself]")
@click.option("--force", is_flag=True, help="Replace an existing output file.")
def sign(
    file: str, key: str, passphrase_file: str | None, output: str | None, *, force: bool
) -> None:
    """Sign the plan FILE: all of it, the roster and the silos' keys too.

    A table [signature] is written at its end, in place of an earlier one; the digest of the
    plan stays the same. Silos put the public key under [auditors] of their policy.

    \b
    Examples:
      fedparity keygen authority
      fedparity plan sign plan.toml --key authority.key
    """
    text = read_plan_text(file)
    private = private_key(key, passphrase_file)
    signed = sign_plan(Plan.read(file), private)
    written = signed_text(text, signed)
    if Plan.from_toml(written) != signed:  # a plan whose tables are written in an unusual way
        written = signed.to_toml()
    write_whole(output or file, written.encode(), force=force or output is None)
    click.echo(f"signed {printable(output or file)} with the key {public_text(private)}", err=True)
    click.echo(f"digest {signed.digest}", err=True)
