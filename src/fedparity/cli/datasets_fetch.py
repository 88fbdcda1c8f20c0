"""``fedparity datasets fetch``: files from their homes, checked by their digests."""

from __future__ import annotations

import json

import click

from fedparity.experiments.datasets.fetching import fetch_file
from fedparity.experiments.datasets.finding import lookup_folder
from fedparity.experiments.datasets.upstream import UPSTREAM

__all__ = ["fetch"]


@click.command(short_help="Download the files from where they are published.")
@click.argument("names", nargs=-1, type=click.Choice(list(UPSTREAM)))
@click.option("--data", metavar="DIR", type=click.Path(), help="Folder to put the files into.")
@click.option("--mirror", metavar="URL", help="Take copies from here; digests are checked.")
@click.option("--json", "as_json", is_flag=True, help="Print names and paths as JSON.")
def fetch(names: tuple[str, ...], data: str | None, mirror: str | None, *, as_json: bool) -> None:
    """Download the files NAMES, all if none is named, unless they are there already.

    A file whose sha256 is not the known one is not kept, and one that is there with other bytes
    is not replaced. Needs the extra 'reproduce' and the internet, or a mirror. The file of
    COMPAS has names and dates of birth in it: this program reads two of its columns.

    \b
    Examples:
      fedparity datasets fetch
      fedparity datasets fetch compas law --data DIR
      fedparity datasets fetch --mirror https://mirror.example/data
    """
    folder = lookup_folder(data)
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for name in names or UPSTREAM:
        path = fetch_file(UPSTREAM[name], folder, mirror=mirror)
        found.append({"name": name, "file": str(path), "sha256": UPSTREAM[name].sha256})
        if not as_json:
            click.echo(path)
    if as_json:
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
