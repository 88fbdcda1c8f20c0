"""``fedparity plan new``: a plan from options, or from answers on a terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from fedparity.cli.quoting import quoted
from fedparity.errors.protocol import PlanError
from fedparity.laws.labels import Group
from fedparity.privacy.disclosure import Disclosure
from fedparity.protocol.files import refuse_existing
from fedparity.protocol.labels import as_group
from fedparity.protocol.plan import Plan

__all__ = ["new"]

_RULES = Disclosure()
_POSITIVE = click.FloatRange(min=0, min_open=True)


@click.command(short_help="Write a plan: asks on a terminal, or takes options.")
@click.argument("file", type=click.Path(dir_okay=False), default="plan.toml")
@click.option("--title", help="What is audited, in one line.")
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="LABEL",
    help='A group, in reporting order; an intersection as \'["F", "65+"]\'.',
)
@click.option("--range", "score_range", type=float, nargs=2, help="Lowest and highest score.")
@click.option(
    "--levels",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Values per cell, at most.",
)
@click.option(
    "--sketch",
    type=click.Choice(["quantile", "mean"]),
    default="quantile",
    show_default=True,
    help="What they are.",
)
@click.option(
    "--estimator",
    type=click.Choice(["grid", "exact"]),
    default="grid",
    show_default=True,
    help="How they are read.",
)
@click.option(
    "--order", type=click.IntRange(1, 2), default=2, show_default=True, help="The p of W_p."
)
@click.option("--review-level", type=_POSITIVE, help="What the verdict compares with.")
@click.option("--silo", "silos", multiple=True, metavar="NAME", help="A silo of the roster.")
@click.option(
    "--minimum-cell",
    type=int,
    default=_RULES.minimum_cell,
    show_default=True,
    help="Withhold groups with fewer records.",
)
@click.option(
    "--records-per-level",
    type=int,
    default=_RULES.records_per_level,
    show_default=True,
    help="Send at most one value per so many; 0: off.",
)
@click.option(
    "--rounding",
    type=float,
    default=_RULES.rounding,
    show_default=True,
    help="Share of the range; 0: off.",
)
@click.option("--key", "keys", multiple=True, metavar="NAME=KEY", help="A silo's public key.")
@click.option(
    "--keys-from",
    type=click.Path(exists=True, file_okay=False),
    help="Folder of NAME.pub files, one per silo.",
)
@click.option(
    "--total", "totals", multiple=True, metavar="NAME=N", help="A silo's public number of records."
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.pass_context
def new(context: click.Context, /, **_: object) -> None:
    """Write a plan to FILE (plan.toml): what is asked of every silo.

    On a terminal it asks for what is not given. A plan holds nothing secret and nothing read
    from data; send the file, unchanged, to every silo. Its digest is bound into every message.

    \b
    Examples:
      fedparity plan new
      fedparity plan new q4.toml --title Risk --group A --group B --range 0 1
      fedparity plan new --title Risk --group A --group B --range 0 1 \\
        --silo aurora --silo bayside --review-level 0.02 --keys-from keys
    """
    options = dict(context.params)
    file, force = options.pop("file"), options.pop("force")
    if not force:
        refuse_existing(file)
    if sys.stdin.isatty():
        _ask(options)
    _require(context, options)
    plan = _plan(options)
    plan.write(file, force=force)
    click.echo(f"wrote {file}\ndigest {plan.digest}", err=True)
    click.echo(f"next: fedparity plan show {quoted(file)}, then send it to every silo", err=True)


def _ask(options: dict[str, Any]) -> None:
    """Ask for what every plan has, and for the two things that most have."""
    complete = options["title"] and options["groups"] and options["score_range"]
    if complete:
        return
    options["title"] = options["title"] or _answer("Title", "Risk score audit")
    options["groups"] = options["groups"] or _split(_answer("Groups, with commas", "A, B"))
    if options["score_range"] is None:
        lowest = _answer("Lowest score there can be", 0.0, type=float)
        options["score_range"] = lowest, _answer("Highest score there can be", 1.0, type=float)
    options["levels"] = _answer("Levels k", options["levels"], type=click.IntRange(min=1))
    if options["review_level"] is None:
        level = _answer("Review level of the disparity (empty: none)", "", type=_optional_number)
        options["review_level"] = level
    options["silos"] = options["silos"] or _split(_answer("Silos, with commas (empty: any)", ""))


def _answer(question: str, default: object, **options: Any) -> Any:  # noqa: ANN401
    return click.prompt(question, default=default, err=True, **options)


def _optional_number(text: str) -> float | None:
    return float(text) if text else None


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _require(context: click.Context, options: Mapping[str, Any]) -> None:
    """Refuse to guess where nobody can be asked."""
    needed = {"title": "--title", "groups": "--group (twice or more)", "score_range": "--range"}
    missing = [option for name, option in needed.items() if not options[name]]
    if missing:
        raise click.UsageError(f"a plan needs {', '.join(missing)}.", ctx=context)


def _plan(options: dict[str, Any]) -> Plan:
    rules = {name: options.pop(name) for name in _RULES.to_dict()}
    folder = options.pop("keys_from")
    keys = {**(_keys_in(folder) if folder else {}), **_pairs(options.pop("keys"), "--key")}
    return Plan(
        **{
            **options,
            "groups": tuple(_label(text) for text in options["groups"]),
            "silos": options["silos"] or None,
            "disclosure": rules,
            "keys": keys,
            "totals": _pairs(options["totals"], "--total", int),
        }
    )


def _label(text: str) -> Group:
    """The label; what is written as a JSON list is an intersection."""
    if not text.startswith("["):
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
