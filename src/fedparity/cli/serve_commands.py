"""``fedparity serve`` and ``fedparity send``: the collector, and the way to it."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from fedparity.cli.main import LazyGroup, Place
from fedparity.cli.options import CollectorOptions, nested, option, with_options
from fedparity.cli.output import note
from fedparity.documents.files import read_bounded
from fedparity.documents.message import SiloSketch
from fedparity.errors import OptionError
from fedparity.errors.base import extra, printable

if TYPE_CHECKING:
    from fedparity.service.server import Address
    from fedparity.service.store import Store

__all__ = ["backup", "check", "link", "prune", "send", "serve"]

_LARGEST_MESSAGE = 8 << 20


@dataclass(frozen=True)
class StoreOptions:
    """Where the collector stores its data."""

    data: str | None = option("--data DIR", "Folder of the collector's database.")
    database: str | None = option(
        "--database URL", "PostgreSQL instead: postgresql+psycopg://user@host/name."
    )

    def open(self, *, new: bool = False) -> Store:
        """Return the store; only the service itself makes a new one."""
        if (self.data is None) == (self.database is None):
            raise OptionError(
                "specify where the collector stores its data.",
                fix="give --data DIR, or --database URL for PostgreSQL.",
            )
        extra("sqlalchemy", "the collector", "serve")
        from fedparity.service.store import Store  # noqa: PLC0415

        if self.database is None:
            return Store.in_folder(str(self.data), new=new)
        if not self.database.startswith(("postgresql:", "postgresql+", "sqlite:")):
            raise OptionError(
                "the collector keeps its data in SQLite or in PostgreSQL.",
                fix="give --data DIR, or --database postgresql+psycopg://user@host/name.",
            )
        if re.search(r"//[^@]*:[^@]*@|[?&]password=", self.database):
            raise OptionError(
                "the address of the database holds a password, which other users of this machine could see.",
                fix="leave it out, and write it to ~/.pgpass or to the file that PGPASSFILE names.",
            )
        return Store(self.database)


@dataclass(frozen=True)
class AddressOptions:
    """Where the collector listens."""

    host: str = option("--host ADDRESS", "Address to listen on.", default="127.0.0.1")
    port: int = option(
        "--port N", "Port to listen on.", default=8765, type=click.IntRange(1, 65535)
    )
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


@dataclass(frozen=True)
class ServeOptions(StartOptions):
    """The options of a service that runs."""

    retain: int | None = option(
        "--retain DAYS",
        "Delete studies after this many days without activity.  [default: never]",
        min=1,
    )
    drop: str | None = option(
        "--drop DIR", "Take messages from DIR/STUDY/SILO, where an SFTP server puts them."
    )
    log_requests: bool = option(
        "--log-requests", "Print a line of JSON for each request, without its contents."
    )


@dataclass(frozen=True)
class LinkOptions(StartOptions):
    """What becomes of those who are signed in."""

    sign_out: bool = option(
        "--sign-out", "End the sessions of all auditors, if one may have been stolen."
    )


@dataclass(frozen=True)
class PruneOptions(StoreOptions):
    """What is old."""

    older_than: int = option(
        "--older-than DAYS", "Days in which nothing happened in a study.", required=True, min=1
    )


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    places={
        "link": Place("serve_commands", "Print a new link for the auditor."),
        "backup": Place("serve_commands", "Copy the database while the service runs."),
        "check": Place("serve_commands", "Check that the log is whole."),
        "prune": Place("serve_commands", "Delete old studies and expired links."),
    },
)
@with_options(ServeOptions)
@click.pass_context
def serve(context: click.Context, options: ServeOptions) -> None:
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
      fedparity serve --data collector --drop /srv/sftp --retain 400
      fedparity serve backup copy.sqlite --data collector
    """
    if context.invoked_subcommand is not None:
        return
    address = options.address.address()
    store = options.store.open(new=True)
    from fedparity.service.chores import Chores  # noqa: PLC0415
    from fedparity.service.server import auditor_link, run  # noqa: PLC0415

    chores = Chores(retain=options.retain, drop=options.drop)
    with address.open() as door, closing(store):
        note(f"the collector listens on {address.url}; stop it with Ctrl-C")
        note("the auditor's link, which works once:")
        click.echo(auditor_link(store, address))
        try:
            run(store, address, door, chores=chores, log_requests=options.log_requests)
        except KeyboardInterrupt:
            note("stopped; everything that was acknowledged is on the disk")


@click.command
@with_options(LinkOptions)
def link(options: LinkOptions) -> None:
    """Print a new one-time link for the auditor; one that was not used is void.

    Give the --name, --host and --port that the service has: the link starts with them.

    \b
    Examples:
      fedparity serve link --data collector
      fedparity serve link --data collector --sign-out
    """
    address = options.address.address()
    store = options.store.open()
    from fedparity.service.server import auditor_link  # noqa: PLC0415

    click.echo(auditor_link(store, address, sign_out=options.sign_out))
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


@click.command
@with_options(PruneOptions)
def prune(options: PruneOptions) -> None:
    """Delete studies in which nothing happens any more, and expired links.

    What remains of a study are its lines in the log: who did what, and digests. Run a backup first.

    \b
    Examples:
      fedparity serve prune --older-than 400 --data collector
    """
    store = options.open()
    from fedparity.service.retention import delete_old  # noqa: PLC0415
    from fedparity.service.studies import Studies  # noqa: PLC0415

    old, expired = delete_old(Studies(store), options.older_than)
    store.close()
    click.echo(f"deleted {len(old):,} studies and {expired:,} expired links, sessions and tokens")


@click.command
@click.argument("message", type=click.Path())
@with_options(CollectorOptions)
def send(message: str, options: CollectorOptions) -> None:
    """Send MESSAGE, as fedparity sketch wrote it, to a collector.

    Exit code 0 once the collector has it on its disk, also if it had the same message already; 3 if it
    refuses the message, 4 if it does not know the token, 6 if it cannot be reached.

    \b
    Examples:
      fedparity send aurora.sketch.json --to https://audit.example.org \\
        --token-file token.txt
    """
    door = options.door()
    data = read_bounded(message, limit=_LARGEST_MESSAGE)
    SiloSketch.from_bytes(data)  # only messages are sent
    sent = door.send(data)
    click.echo(f"{'sent' if sent.new else 'it was there already'}: {sent.digest}")
