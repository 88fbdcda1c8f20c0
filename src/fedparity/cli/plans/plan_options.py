"""The options of ``fedparity plan new``, and the plan that they make."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import click

from fedparity.cli.options import POSITIVE, nested, option
from fedparity.documents.fields import as_group
from fedparity.documents.plan import Plan
from fedparity.documents.plan_fields import Favorable, ReviewUnit
from fedparity.errors import PlanError
from fedparity.laws.labels import Group
from fedparity.privacy.disclosure import Disclosure, Mode
from fedparity.sketches.kinds import DEFAULT_ESTIMATOR, DEFAULT_LEVELS, Kind

__all__ = ["TERMS", "DisclosureOptions", "NewPlanOptions", "as_label"]

_RULES = Disclosure()
TERMS = ("epsilon", "budget", "records")
"""The keys of ``[privacy]``, besides its mode, that are options."""


@dataclass(frozen=True)
class DisclosureOptions:
    """The disclosure rules of a plan."""

    minimum_cell: int = option(
        "--minimum-cell", "Withhold groups with fewer records.", default=_RULES.minimum_cell
    )
    records_per_level: int = option(
        "--records-per-level",
        "Send at most one value per this many records; 0: off.",
        default=_RULES.records_per_level,
    )
    rounding: float | None = option(
        "--rounding",
        "Round values to this share of the range; 0: off.  [default: 0.005 for means, 0.001 for quantiles]",
    )


@dataclass(frozen=True)
class NewPlanOptions:
    """The options of a new plan; those that are keys of a plan have their names."""

    title: str | None = option("--title", "What is audited, in one line.")
    groups: tuple[Group, ...] = option(
        "--group LABEL", 'A group, in reporting order; an intersection as \'["F", "65+"]\'.'
    )
    score_range: tuple[float, float] | None = option("--range", "Lowest and highest score.")
    score_step: float | None = option(
        "--step", "Scores lie on this grid, from the lowest on.", type=POSITIVE
    )
    favorable: Favorable = option(
        "--favorable", "Which scores are good for the person: high or low ones.", default="above"
    )
    thresholds: tuple[float, ...] = option(
        "--threshold SCORE", "Count records on both sides of it; may be repeated."
    )
    review_level: float | None = option(
        "--review-level", "Disparity above which you want a review.", type=POSITIVE
    )
    review_unit: ReviewUnit = option(
        "--review-unit",
        "Unit of the review level; squared compares G, the others the worst pair of groups.",
        default="points",
    )
    period: tuple[str, str] | None = option(
        "--period FROM TO", "First and last day of the records, such as 2026-10-01 2026-12-31."
    )
    silos: tuple[str, ...] = option("--silo NAME", "A silo of the roster.")
    privacy: Mode = option(
        "--privacy", "Noise in each silo, sums over silos only, or both.", default="none"
    )
    epsilon: float | None = option(
        "--epsilon",
        "Privacy loss of one release, with noise; smaller protects more.",
        type=POSITIVE,
    )
    budget: float | None = option(
        "--budget", "Privacy loss of all releases from one data set.", type=POSITIVE
    )
    records: int | None = option(
        "--records", "Public planning size: records of the smallest group, with noise.", min=1
    )
    levels: int = option(
        "--levels", "Values per group and silo, at most.", min=1, default=DEFAULT_LEVELS
    )
    sketch: Kind | None = option(
        "--sketch",
        "Values sent.  [default: counts if the step leaves few scores, else mean]",
        type=click.Choice(["mean", "quantile", "counts"]),
    )
    estimator: Literal["exact", "grid"] = option(
        "--estimator", "How the auditor combines the values.", default=DEFAULT_ESTIMATOR
    )
    order: Literal[1, 2] = option(
        "--order",
        "Order of the distances; 2: squared differences, 1: absolute ones.",
        type=click.IntRange(1, 2),
        default=2,
    )
    disclosure: DisclosureOptions = nested(DisclosureOptions)
    keys: tuple[str, ...] = option("--key NAME=KEY", "A silo's public key.")
    keys_from: str | None = option(
        "--keys-from",
        "Folder of NAME.pub files, one per silo.",
        type=click.Path(exists=True, file_okay=False),
    )
    totals: tuple[str, ...] = option("--total NAME=N", "A silo's public number of records.")

    @property
    def terms(self) -> dict[str, Any] | None:
        """The table ``[privacy]`` of the plan, if it has one."""
        if self.privacy == "none":
            return None
        stated = {name: getattr(self, name) for name in TERMS}
        given = {name: value for name, value in stated.items() if value is not None}
        return {"mode": self.privacy, **given}

    def plan(self) -> Plan:
        """Return the plan.

        Raises
        ------
        click.UsageError
            If a key is missing that every plan has, or an option cannot be read.
        PlanError
            If they are not a plan together.
        """
        needed = {
            "title": "--title",
            "groups": "--group (twice or more)",
            "score_range": "--range",
        }
        missing = [flag for name, flag in needed.items() if not getattr(self, name)]
        if missing:
            raise click.UsageError(f"a plan needs {', '.join(missing)}.")
        if self.privacy == "none" and (
            given := [n for n in TERMS if getattr(self, n) is not None]
        ):
            raise click.UsageError(f"--{given[0]} goes with --privacy dp or secure+dp.")
        keys = {} if self.keys_from is None else _keys_in(self.keys_from)
        left_out = ("keys_from", *TERMS)
        stated = {name: value for name, value in vars(self).items() if name not in left_out}
        return Plan(
            **{
                **stated,
                "groups": tuple(as_label(text) for text in self.groups),
                "thresholds": tuple(sorted(self.thresholds)),
                "silos": self.silos or None,
                "privacy": self.terms,
                "disclosure": asdict(self.disclosure),
                "keys": {**keys, **_pairs(self.keys, "--key")},
                "totals": _pairs(self.totals, "--total", int),
            }
        )


def as_label(text: Group) -> Group:
    """Return the label; what is written as a JSON list is an intersection."""
    if not isinstance(text, str) or not text.startswith("["):
        return text
    try:
        group = as_group(json.loads(text))
    except ValueError:
        group = None
    if group is None:
        raise click.BadParameter(f"{text!r} is not a list of labels.", param_hint="--group")
    return group


def _pairs(
    texts: Iterable[str], option: str, convert: Callable[[str], Any] = str
) -> dict[str, Any]:
    """The pairs of several NAME=VALUE; a key in base64 may end in = itself."""
    pairs = {}
    for text in texts:
        name, sign, value = text.partition("=")
        try:
            pairs[name] = convert(value)
        except ValueError:
            sign = ""
        if not (name and sign):
            raise click.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint=option)
    return pairs


def _keys_in(folder: str | os.PathLike[str]) -> dict[str, str]:
    """The public keys of a folder, by the names of their files."""
    files = sorted(Path(folder).glob("*.pub"))
    if not files:
        raise PlanError(
            f"{os.fspath(folder)} holds no file that ends in .pub.",
            fix="put the NAME.pub files of fedparity keygen there, one per silo.",
        )
    return {file.stem: file.read_text(encoding="utf-8").strip() for file in files}
