"""``fedparity-reproduce``: the paper's tables and figures beside what it prints."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress as ProgressBar

import fedparity as fp
from fedparity.errors import FedparityError, OptionError, OutputError
from fedparity_reproduction import __version__
from fedparity_reproduction.data_files import (
    UPSTREAM,
    DownloadError,
    data_folder,
    fetch_file,
    find_file,
    write_file,
)
from fedparity_reproduction.datasets import DATASETS, load_dataset
from fedparity_reproduction.experiments import EXPERIMENTS, Part, Plot, build_part
from fedparity_reproduction.figure_style import figure_files
from fedparity_reproduction.page import reproduction_page
from fedparity_reproduction.runner import SCHEMA, Progress, Runner, Settings, claim_folder
from fedparity_reproduction.texts import (
    k95_csv,
    k95_markdown,
    table_csv,
    table_latex,
    table_markdown,
    terms_csv,
    terms_latex,
    terms_markdown,
)

__all__ = ["Reproduction", "cli", "main", "reproduce"]


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What was made, and where it is."""

    folder: Path
    parts: tuple[Part, ...]
    files: tuple[str, ...]
    """All files but the cached numbers, relative to the folder."""

    @property
    def verdicts(self) -> dict[str, int]:
        """How many of the paper's rows and numbers match, and how many differ."""
        found = sum((part.verdicts for part in self.parts), Counter())
        return {word: found[word] for word in ("matches", "differs")}


def reproduce(
    experiments: Sequence[str] = EXPERIMENTS,
    *,
    out: Path,
    data: Path | None = None,
    settings: Settings | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    force: bool = False,
) -> Reproduction:
    """Rebuild the paper's tables and figures, and write them with a page that shows them all.

    Numbers are cached in the folder; a run that was interrupted resumes. The same settings and data
    give the same bytes, for any number of workers.

    Raises
    ------
    TableError
        If a file of data is missing, before anything is computed.
    OutputError
        If the folder holds something else, and ``force`` is False.
    """
    settings = settings or Settings()
    for name in experiments:
        if name in UPSTREAM:
            find_file(UPSTREAM[name], data)
    claim_folder(out, settings, force=force)
    runner = Runner(
        settings=settings, folder=out / "draws", data=data, workers=workers, progress=progress
    )
    parts = tuple(build_part(name, runner) for name in EXPERIMENTS if name in experiments)
    drawn = _draw([plot for part in parts for plot in part.plots], workers, progress)
    page = reproduction_page(parts, settings, {name: f["svg"] for name, f in drawn.items()})
    contents = {
        **{name: text.encode() for name, text in _texts(parts, settings)},
        **{f"figures/{name}.{kind}": f for name, fs in drawn.items() for kind, f in fs.items()},
        "index.html": page.encode(),
    }
    for name, content in contents.items():
        write_file(out / name, content)
    return Reproduction(out, parts, tuple(sorted(contents)))


def _texts(parts: Sequence[Part], settings: Settings) -> Iterator[tuple[str, str]]:
    """Return the files of all tables."""
    for part in parts:
        for table in part.tables:
            yield f"tables/{table.name}.csv", table_csv(table)
            yield f"tables/{table.name}.md", table_markdown(table)
            yield f"tables/{table.name}.tex", table_latex(table)
        if part.terms:
            yield f"tables/{part.name}-terms.csv", terms_csv(part.terms)
            yield f"tables/{part.name}-terms.md", terms_markdown(part.terms)
            yield f"tables/{part.name}-terms.tex", terms_latex(part.terms)
    studies = {part.title: part.study for part in parts if part.study}
    if studies and not settings.is_quick:
        yield "tables/k95.md", k95_markdown(studies)
        yield "tables/k95.csv", k95_csv(studies)


def _draw(
    plots: Sequence[Plot], workers: int, progress: Progress | None
) -> dict[str, dict[str, bytes]]:
    """Return the files of each figure by format; in processes, since matplotlib shares its state."""
    drawn, draws = {}, [plot.draw for plot in plots]
    ignore = (signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for this process
    pool = ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=signal.signal, initargs=ignore
    )
    try:
        all_files = map(figure_files, draws) if workers == 1 else pool.map(figure_files, draws)
        for plot, made in zip(plots, all_files, strict=True):
            drawn[plot.name] = made
            if progress is not None:
                progress(len(drawn), len(plots), "Figures")
    finally:
        pool.shutdown(cancel_futures=True)
    return drawn


# -- the commands --------------------------------------------------------------------------------


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fedparity-reproduce")
def cli() -> None:
    """Rebuild the tables and figures of the paper's experiments, beside what it prints.

    \b
    Examples:
      fedparity-reproduce fetch
      fedparity-reproduce all --quick
      fedparity-reproduce compas --data downloads --out compas
      fedparity-reproduce all --replicates 1000
    """  # noqa: D301 -- click keeps the lines after \\b apart


_FOLDER = click.Path(file_okay=False, path_type=Path)
_data = click.option("--data", type=_FOLDER, help="Folder of the data.  [env: FEDPARITY_DATA]")
_json = click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")


@cli.command("all", short_help="Rebuild all experiments.")
@_data
@click.option(
    "--out",
    type=_FOLDER,
    default="fedparity-reproduction",
    show_default=True,
    help="Folder to write to.",
)
@click.option(
    "--replicates",
    type=click.IntRange(min=2),
    help="Allocations of each regime and number of silos.  [default: 200]",
)
@click.option("--quick", is_flag=True, help="A first look: 10 allocations of each kind.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed."
)
@click.option(
    "--workers", type=click.IntRange(min=1), help="Threads and processes.  [default: all]"
)
@click.option("--force", is_flag=True, help="Replace what the folder holds.")
@_json
@click.pass_context
def _rebuild(
    context: click.Context,
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
    """Write a page, index.html, with every table and figure and a verdict for every row.

    Tables are also written as CSV, Markdown and LaTeX, figures as SVG and PDF. Numbers are cached in
    the folder: after Ctrl-C the same command resumes. The same seed gives the same bytes.
    """
    name = context.command.name
    with _progress_bar() as progress:
        made = reproduce(
            [each for each in EXPERIMENTS if name in (each, "all")],
            out=out,
            data=data,
            settings=Settings.of_size(quick=quick, replicates=replicates, seed=seed),
            workers=workers or os.cpu_count() or 1,
            progress=progress,
            force=force,
        )
    verdicts, names = made.verdicts, [part.name for part in made.parts]
    if as_json:
        plain = {"schema": SCHEMA, "folder": str(out), "experiments": names}
        click.echo(json.dumps({**plain, "verdicts": verdicts, "files": made.files}))
        return
    click.echo(
        f"Printed rows and numbers: {verdicts['matches']} match, {verdicts['differs']} differ; "
        f"the page says why.\nSee {out / 'index.html'}; {len(made.files)} files in all."
    )


for _name in EXPERIMENTS:
    cli.add_command(
        click.Command(
            _name,
            params=_rebuild.params,
            callback=_rebuild.callback,
            help=_rebuild.help,
            short_help=f"Rebuild the {_name} experiment.",
        )
    )


@cli.command(short_help="Download the data.")
@click.argument("names", nargs=-1, type=click.Choice(list(UPSTREAM)))
@_data
@click.option("--mirror", metavar="URL", help="Download copies from here; digests are checked.")
def fetch(names: tuple[str, ...], data: Path | None, mirror: str | None) -> None:
    """Download the files NAMES (default: all) unless they are already there.

    A download whose sha256 differs from the published one is not kept, and an existing file with
    other bytes is not replaced. The file of COMPAS contains names and dates of birth: this program
    reads two of its columns.
    """
    for name in names or UPSTREAM:
        click.echo(fetch_file(UPSTREAM[name], data_folder(data), mirror=mirror))


@cli.command(short_help="Verify and measure the data.")
@click.argument("names", nargs=-1, type=click.Choice(list(DATASETS)))
@_data
@_json
def check(names: tuple[str, ...], data: Path | None, *, as_json: bool) -> None:
    """Read the data sets NAMES (default: all), verify their files, and measure them.

    Each line has the records of the groups, the gap between their means, W2, U2 and H2. The exit
    code is 3 if a file is missing, or its sha256 is not that of a known file.
    """
    found = [_measured(name, data) for name in names or DATASETS]
    if as_json:
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        for entry in found:
            groups = ", ".join(f"{group} {count:,}" for group, count in entry["groups"].items())
            click.echo(
                f"{entry['name']}: {groups}; gap {entry['mean_gap']:.4f}, "
                f"W2 {entry['wasserstein']:.4f}, U2 {entry['disparity']:.4f}, "
                f"H2 {entry['heterogeneity']:.4f}"
            )
    unknown = [entry["name"] for entry in found if not entry["known"]]
    if unknown:
        raise fp.errors.TableError(
            f"read from a file with unknown bytes: {', '.join(unknown)}.",
            fix="run `fedparity-reproduce fetch` into an empty folder, and name it with --data.",
        )


def _measured(name: str, data: Path | None) -> dict[str, Any]:
    dataset, source = load_dataset(name, data=data), DATASETS[name]
    first, second = (fp.Law.from_scores(dataset.scores[dataset.codes == code]) for code in (0, 1))
    return {
        "name": name,
        "file": dataset.file,
        "sha256": dataset.sha256,
        "known": source is None or UPSTREAM[source].matches(dataset.sha256 or ""),
        "groups": dataset.counts,
        "mean_gap": abs(first.mean - second.mean),
        "wasserstein": fp.wasserstein(first, second),
        "disparity": fp.disparity(dataset.scores, sensitive_features=dataset.codes),
        "heterogeneity": fp.heterogeneity(dataset.scores, sensitive_features=dataset.codes),
        "specification": dataset.specification,
    }


@contextmanager
def _progress_bar() -> Iterator[Progress | None]:
    """Draw a bar on the standard error stream, if it is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with ProgressBar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, label: bar.update(
            task, completed=done, total=total, description=label
        )


def main() -> None:
    """Run the command; errors end with the exit codes of ``fedparity``."""
    try:
        code = cli(standalone_mode=False)
    except click.ClickException as problem:
        problem.show()
        code = problem.exit_code
    except FedparityError as problem:
        click.echo(f"error: {problem}", err=True)
        usage = isinstance(problem, OptionError | OutputError)
        code = 6 if isinstance(problem, DownloadError) else 2 if usage else 3
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted; the same command resumes.", err=True)
        code = 130
    sys.exit(code)
