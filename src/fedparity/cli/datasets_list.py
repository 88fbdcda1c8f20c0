"""``fedparity datasets list``: what data there are, under which licence, and whether they are here."""

from __future__ import annotations

import json

import click

from fedparity.errors import TableError
from fedparity.experiments.datasets.finding import find_file, lookup_folder
from fedparity.experiments.datasets.upstream import UPSTREAM, UpstreamFile

__all__ = ["list_"]


@click.command("list", short_help="Name the data sets, their files and licences.")
@click.option("--data", metavar="DIR", type=click.Path(), help="Folder of the files.")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def list_(data: str | None, *, as_json: bool) -> None:
    """Name the data sets, their files, homes and licences, and say which files are here.

    \b
    Examples:
      fedparity datasets list
      fedparity datasets list --json
    """
    entries = [_entry(name, upstream, data) for name, upstream in UPSTREAM.items()]
    if as_json:
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    for entry in entries:
        here = entry["path"] or f"not in {lookup_folder(data)}"
        click.echo(
            f"{entry['name']}: {entry['title']}\n"
            f"  file     {here}\n"
            f"  home     {entry['url']}\n"
            f"  licence  {entry['licence']}"
        )


def _entry(name: str, upstream: UpstreamFile, data: str | None) -> dict[str, str | None]:
    try:
        path = str(find_file(upstream, data))
    except TableError:
        path = None
    return {
        "name": name,
        "title": upstream.title,
        "path": path,
        "url": upstream.url,
        "sha256": upstream.sha256,
        "licence": upstream.licence,
    }
