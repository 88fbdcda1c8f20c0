"""``fedparity reproduce``: the paper's tables and figures beside what it prints."""

from __future__ import annotations

import json
from pathlib import Path

import click

from fedparity.cli.fitting import counted
from fedparity.cli.progress import progress_bar
from fedparity.experiments.reproduction.folders import SCHEMA
from fedparity.experiments.reproduction.parts import EXPERIMENTS
from fedparity.experiments.reproduction.run import Reproduction
from fedparity.experiments.reproduction.run import reproduce as rebuild
from fedparity.experiments.reproduction.settings import Settings

__all__ = ["reproduce"]


@click.command(short_help="Rebuild the paper's tables and figures.")
@click.argument("experiment", type=click.Choice([*EXPERIMENTS, "all"]))
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the data.  [env: FEDPARITY_DATA]",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default="fedparity-reproduction",
    show_default=True,
    help="Folder to write to.",
)
@click.option(
    "--replicates",
    type=click.IntRange(min=2),
    help="Allocations of each regime and number of silos.  [default: 200]",
)
@click.option("--quick", is_flag=True, help="A first look: 10 allocations of each.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of everything."
)
@click.option(
    "--workers", type=click.IntRange(min=1), help="Threads and processes.  [default: all]"
)
@click.option(
    "--force", is_flag=True, help="Replace what the folder holds, and compute everything again."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")
def reproduce(
    experiment: str,
    *,
    data: Path | None,
    out: Path,
    replicates: int | None,
    quick: bool,
    seed: int,
    workers: int | None,
    force: bool,
    as_json: bool,
) -> None:
    """Rebuild the tables and figures of the paper's experiments, beside what it prints.

    Writes a page, index.html, that shows them all with a verdict for every row; tables as CSV,
    Markdown and LaTeX, figures as SVG and PDF. Numbers are kept as they come: after Ctrl-C the
    same command goes on where it was. The same seed gives the same bytes.

    \b
    Examples:
      fedparity reproduce all --quick
      fedparity reproduce compas --data downloads --out compas
      fedparity reproduce all --replicates 1000
    """
    settings = Settings.of(quick=quick, replicates=replicates, seed=seed)
    with progress_bar("steps") as progress:
        made = rebuild(
            EXPERIMENTS if experiment == "all" else (experiment,),
            out=out,
            data=data,
            settings=settings,
            workers=workers or _cores(),
            progress=progress,
            force=force,
        )
    click.echo(_json(made) if as_json else _text(made))


def _cores() -> int:
    from os import cpu_count  # noqa: PLC0415

    return cpu_count() or 1


def _text(made: Reproduction) -> str:
    found = made.verdicts
    return (
        f"Printed rows and numbers: {found['matches']} match, {found['differs']} differ; the page "
        f"says why.\nSee {made.folder / 'index.html'}; {counted(len(made.files), 'file')} in all."
    )


def _json(made: Reproduction) -> str:
    return json.dumps(
        {
            "schema": SCHEMA,
            "folder": str(made.folder),
            "experiments": [part.name for part in made.parts],
            "verdicts": made.verdicts,
            "files": list(made.files),
        }
    )
