"""The whole reproduction, from the data to a page that shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fedparity.experiments.reproduction.bench import Bench, check_data
from fedparity.experiments.reproduction.dataset_part import build_part
from fedparity.experiments.reproduction.drawing import draw_all
from fedparity.experiments.reproduction.figures.style import style
from fedparity.experiments.reproduction.folders import claim_folder
from fedparity.experiments.reproduction.k95 import k95_csv, k95_markdown
from fedparity.experiments.reproduction.meters import Meter, Progress
from fedparity.experiments.reproduction.page.page import page_template, reproduction_page
from fedparity.experiments.reproduction.parts import EXPERIMENTS, Part
from fedparity.experiments.reproduction.settings import Settings
from fedparity.experiments.reproduction.synthetic_part import build_synthetic
from fedparity.experiments.reproduction.table_text import as_csv, as_latex, as_markdown
from fedparity.experiments.reproduction.terms_text import terms_csv, terms_latex, terms_markdown
from fedparity.protocol.files import write_whole

__all__ = ["Reproduction", "reproduce"]


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What was made, and where it is."""

    folder: Path
    parts: tuple[Part, ...]
    files: tuple[str, ...]
    """All files but the kept numbers, relative to the folder."""

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

    Numbers are kept in the folder as they come; a run that was interrupted goes on where it
    was. The same settings and data give the same bytes, for any number of workers.

    Parameters
    ----------
    experiments : sequence of "synthetic", "compas", "adult", "law"
    out : Path
        The folder to write to.
    data : Path, optional
        The folder of the data; FEDPARITY_DATA if absent.
    settings : Settings, optional
        Those of a full reproduction if absent.
    force : bool
        Write into a folder that holds something else, and compute everything again.

    Raises
    ------
    TableError
        If a file of data is missing: it says how to get it, before anything is computed.
    OutputError
        If the folder holds something else.
    MissingExtraError
        If matplotlib or Jinja2 is not installed.
    """
    settings = settings or Settings()
    _check_extras()
    for name in experiments:
        check_data(name, data)
    claim_folder(out, settings, force=force)
    bench = Bench(
        settings=settings, folder=out / "draws", data=data, workers=workers, progress=progress
    )
    parts = tuple(
        build_synthetic(bench) if name == "synthetic" else build_part(name, bench)
        for name in EXPERIMENTS
        if name in experiments
    )
    plots = [plot for part in parts for plot in part.plots]
    drawn = draw_all(plots, workers=workers, meter=Meter(progress, "figures"))
    figures = {plot.name: files for plot, files in zip(plots, drawn, strict=True)}
    page = reproduction_page(parts, settings, {n: f["svg"] for n, f in figures.items()})
    contents = {
        **dict(_texts(parts)),
        **{f"figures/{name}.{kind}": f for name, fs in figures.items() for kind, f in fs.items()},
        "index.html": page.encode(),
    }
    for name, content in contents.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(out / name, content, force=True)
    return Reproduction(out, parts, tuple(sorted(contents)))


def _check_extras() -> None:
    """Raise a MissingExtraError now, and not after an hour of counting."""
    page_template()
    with style():
        pass


def _texts(parts: Sequence[Part]) -> Iterator[tuple[str, bytes]]:
    """The files of all tables."""
    for part in parts:
        for table in part.tables:
            yield f"tables/{table.name}.csv", as_csv(table).encode()
            yield f"tables/{table.name}.md", as_markdown(table).encode()
            yield f"tables/{table.name}.tex", as_latex(table).encode()
        if part.terms:
            yield f"tables/{part.name}-terms.csv", terms_csv(part.terms).encode()
            yield f"tables/{part.name}-terms.md", terms_markdown(part.terms).encode()
            yield f"tables/{part.name}-terms.tex", terms_latex(part.terms).encode()
    studies = {part.title: part.study for part in parts if part.study}
    if studies:
        yield "tables/k95.md", k95_markdown(studies).encode()
        yield "tables/k95.csv", k95_csv(studies).encode()
