"""A small audit on disk: a plan, messages, and tables."""

from __future__ import annotations

import csv

import numpy as np
from click.testing import CliRunner

import fedparity as fp
from fedparity.cli.main import cli
from fedparity.silo.sketch import prepare

SILOS = ("north", "south", "west")


def run(*arguments, **options):
    """Run a command in this process."""
    return CliRunner().invoke(cli, list(map(str, arguments)), prog_name="fedparity", **options)


def plan(**changes):
    """A plan of three silos."""
    options = {"title": "Q4", "groups": ("A", "B"), "score_range": (0, 1), "levels": 10}
    return fp.Plan(**{**options, "silos": SILOS, "review_level": 0.01, **changes})


def table(seed, rows=240, share=0.5):
    """Scores that are higher in group B."""
    random = np.random.default_rng(seed)
    groups = np.where(random.random(rows) < share, "A", "B")
    scores = np.where(groups == "A", random.beta(2, 5, rows), random.beta(5, 2, rows))
    return {"score": scores, "group": groups}


def message(asked, silo, seed=0, **options):
    """The message of a silo."""
    return prepare(table(seed, **options), plan=asked, silo=silo).sketch


def write_table(path, columns):
    """Write a table as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


def write_audit(folder, silos=SILOS, **changes):
    """Write a plan and the messages of some silos; return the plan."""
    asked = plan(**changes)
    asked.write(folder / "plan.toml")
    (folder / "inbox").mkdir()
    for seed, silo in enumerate(silos):
        message(asked, silo, seed).write(folder / "inbox" / f"{silo}.sketch.json")
    return asked
