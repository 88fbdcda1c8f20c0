"""``fedparity serve`` and ``fedparity send``: the collector, and the way to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from fedparity.cli.command_groups import LazyGroup, Place
from fedparity.cli.options import nested, option, with_options
from fedparity.cli.output import note
from fedparity.documents.files import read_bounded, read_secret
from fedparity.documents.message import SiloSketch
from fedparity.errors import OptionError
from fedparity.errors.base import printable
from fedparity.errors.extras import extra

if TYPE_CHECKING:
    from fedparity.service.server import Address
    from fedparity.service.store import Store

__all__ = ["backup", "check", "link", "send", "serve"]

_LARGEST_MESSAGE = 8 << 20


@dataclass(frozen=True)
class StoreOptions:
    """Where the collector keeps its data."""

    data: str | None = option("--data DIR", "Folder of the collector's database.")
    database: str | None = option(
        "--database URL", "PostgreSQL instead: postgresql+psycopg://user@host/name."
    )

    def open(self) -> Store:
        """Return the store."""
        if (self.data is None) == (self.database is None):
            raise OptionError(
                "say where the collector keeps its data.",
                fix="give --data DIR, or --database URL for PostgreSQL.",
            )
        extra("sqlalchemy", "the collector", "serve")
        from fedparity.service.store import Store  # noqa: PLC0415

        return Store(self.database) if self.database else Store.in_folder(str(self.data))


@dataclass(frozen=True)
class AddressOptions:
    """Where the collector listens."""

    host: str = option("--host ADDRESS", "Address to listen on.", default="127.0.0.1")
    port: int = option("--port N", "Port to listen on.", default=8765, min=1)
    name: str | None = option(
        "--name HOST", "Name under which people reach it; links start with it."
    )
    tls_cert: str | None = option("--tls-cert FILE", "Certificate, in PEM.")
    tls_key: str | None = option("--tls-key FILE", "Private key of the certificate, in PEM.")
    behind_proxy: bool = option("--behind-proxy", "A proxy in front of it adds TLS.")

    def address(self) -> Address:
        """Return them as an address."""
        for package in ("starlette", "uvicorn", "jinja2", "multipart"):
            extra(package, "the collector", "serve")
        from fedparity.service.server import Address  # noqa: PLC0415

        return Address(**vars(self))


@dataclass(frozen=True)
class StartOptions:
    """The options of the service."""

    store: StoreOptions = nested(StoreOptions)
    address: AddressOptions = nested(AddressOptions)


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    places={
        "link": Place("serve_commands", "Print a new link for the auditor."),
        "backup": Place("serve_commands", "Copy the database while the service runs."),
        "check": Place("serve_commands", "Check that the log is whole."),
    },
)
@with_options(StartOptions)
@click.pass_context
def serve(context: click.Context, options: StartOptions) -> None:
    """Collect the silos' messages with a small service.

    Prints the auditor's link, which works once. The auditor begins a study with a plan, sends each silo a
    link, sees who has answered, runs the audit and downloads the evidence. Each silo has a page of its own,
    and sees nothing of the others. The service listens on this machine alone unless it has TLS, or a
    proxy that adds it. Stop it with Ctrl-C: nothing that it acknowledged is lost.

    \b
    Examples:
      fedparity serve --data collector
      fedparity serve --data collector --host 0.0.0.0 --name audit.example.org \\
        --tls-cert cert.pem --tls-key key.pem
      fedparity serve backup copy.sqlite --data collector
    """
    if context.invoked_subcommand is not None:
        return
    address = options.address.address()
    store = options.store.open()
    from fedparity.service.server import auditor_link, run  # noqa: PLC0415

    note(f"the collector listens on {address.url}; stop it with Ctrl-C")
    note("the auditor's link, which works once:")
    click.echo(auditor_link(store, address))
    try:
        run(store, address)
    finally:
        store.close()


@click.command
@with_options(StartOptions)
def link(options: StartOptions) -> None:
    """Print a new one-time link for the auditor; one that was not used is void.

    \b
    Examples:
      fedparity serve link --data collector
    """
    address = options.address.address()
    store = options.store.open()
    from fedparity.service.server import auditor_link  # noqa: PLC0415

    click.echo(auditor_link(store, address))
    store.close()


@click.command
@click.argument("file", type=click.Path())
@with_options(StoreOptions)
def backup(file: str, options: StoreOptions) -> None:
    """Write a copy of the database to FILE, while the service runs.

    \b
    Examples:
      fedparity serve backup collector-2026-11-18.sqlite --data collector
    """
    store = options.open()
    store.back_up(file)
    store.close()
    note(f"wrote {printable(file)}")


@click.command
@with_options(StoreOptions)
def check(options: StoreOptions) -> None:
    """Check that no line of the log was changed or taken out.

    \b
    Examples:
      fedparity serve check --data collector
    """
    store = options.open()
    lines = store.check_log()
    store.close()
    click.echo(f"the log is whole: {lines:,} lines")


@dataclass(frozen=True)
class SendOptions:
    """Where a message goes."""

    to: str = option("--to URL", "Address of the collector.", required=True)
    token_file: str = option(
        "--token-file FILE",
        "File with the silo's token, which only its owner can read.",
        required=True,
    )
    ca_file: str | None = option(
        "--ca-file FILE", "Certificates to trust, in PEM, if not those of the system."
    )


@click.command
@click.argument("message", type=click.Path())
@with_options(SendOptions)
def send(message: str, options: SendOptions) -> None:
    """Send MESSAGE, as fedparity sketch wrote it, to a collector.

    Exit code 0 once the collector has it on its disk, also if it had the same message already; 3 if it
    refuses the message, 4 if it does not know the token, 6 if it cannot be reached.

    \b
    Examples:
      fedparity send aurora.sketch.json --to https://audit.example.org \\
        --token-file token.txt
    """
    token = read_secret(options.token_file, "token").decode("ascii", "replace")
    data = read_bounded(message, limit=_LARGEST_MESSAGE)
    SiloSketch.from_bytes(data)  # what is no message is not sent
    from fedparity.service.sender import send as put  # noqa: PLC0415

    sent = put(data, options.to, token, ca_file=options.ca_file)
    click.echo(f"{'sent' if sent.new else 'it was there already'}: {sent.digest}")
