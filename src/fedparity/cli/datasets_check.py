"""``fedparity datasets check``: whether the files are the known ones, and what they hold."""

from __future__ import annotations

import json
from typing import Any

import click

from fedparity.cli.exits import ExitCode
from fedparity.cli.fitting import counted
from fedparity.experiments.datasets.catalogue import DATASETS, load_dataset
from fedparity.experiments.datasets.dataset import Dataset
from fedparity.experiments.datasets.upstream import UPSTREAM
from fedparity.functionals.disparity import disparity
from fedparity.functionals.heterogeneity import heterogeneity
from fedparity.functionals.wasserstein import wasserstein
from fedparity.laws.law import Law

__all__ = ["check"]


@click.command(short_help="Check the files, and measure what they hold.")
@click.argument("names", nargs=-1, type=click.Choice(list(DATASETS)))
@click.option("--data", metavar="DIR", type=click.Path(), help="Folder of the files.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@click.pass_context
def check(
    context: click.Context, names: tuple[str, ...], data: str | None, *, as_json: bool
) -> None:
    """Read the data sets NAMES, all if none is named, and measure the whole of each.

    Each line has the records of the groups, the gap between their means, W2, U2 and H2. Exit code
    3 if a file is missing, or its sha256 is not known.

    \b
    Examples:
      fedparity datasets check
      fedparity datasets check compas adult --data DIR --json
    """
    found = []
    for name in names or DATASETS:
        entry = _measured(load_dataset(name, data=data))
        found.append(entry)
        if not as_json:
            click.echo(_line(entry))
    if as_json:
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    unknown = [entry["name"] for entry in found if not entry["known"]]
    if unknown:
        click.echo(
            f"error: {counted(len(unknown), 'data set')} read from a file with unknown bytes: "
            f"{', '.join(unknown)}.\nfix: run `fedparity datasets fetch` into an empty folder, "
            "and name it with --data.",
            err=True,
        )
        context.exit(ExitCode.BAD_INPUT)


def _measured(dataset: Dataset) -> dict[str, Any]:
    labels = dataset.codes
    first, second = (Law.from_scores(dataset.scores[labels == code]) for code in (0, 1))
    source = DATASETS[dataset.name]
    digest = dataset.provenance.sha256
    return {
        "name": dataset.name,
        "file": dataset.provenance.file,
        "sha256": digest,
        "known": source is None or (digest is not None and UPSTREAM[source].knows(digest)),
        "groups": {str(group): count for group, count in dataset.counts.items()},
        "mean_gap": abs(first.mean - second.mean),
        "wasserstein": wasserstein(first, second),
        "disparity": disparity(dataset.scores, sensitive_features=labels),
        "heterogeneity": heterogeneity(dataset.scores, sensitive_features=labels),
        "specification": dataset.provenance.specification,
    }


def _line(entry: dict[str, Any]) -> str:
    groups = ", ".join(f"{group} {count:,}" for group, count in entry["groups"].items())
    return (
        f"{entry['name']}: {groups}; gap {entry['mean_gap']:.4f}, W2 {entry['wasserstein']:.4f}, "
        f"U2 {entry['disparity']:.4f}, H2 {entry['heterogeneity']:.4f}"
    )
