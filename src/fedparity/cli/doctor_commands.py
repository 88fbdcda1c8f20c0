"""``fedparity doctor``: what is installed, where this silo's files are, and whether a plan fits a table."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from fedparity.cli.main import ExitCode
from fedparity.cli.options import (
    LedgerOptions,
    TableOptions,
    nested,
    option,
    row_lines,
    with_options,
)
from fedparity.cli.output import print_json, progress_bar
from fedparity.cli.sketch_commands import numbers_words
from fedparity.documents.fields import group_words
from fedparity.documents.plan import Plan, plan_warnings
from fedparity.errors import DisclosureError, FedparityError
from fedparity.errors.base import printable
from fedparity.modes.mode import Release, mode_of
from fedparity.privacy.ledger import Ledger
from fedparity.privacy.policy import Policy
from fedparity.silo.permit import Permit, default_policy_path, find_policy, lawful
from fedparity.sketches.passes import ROWS_FOR_NUMBA
from fedparity.sketches.select import ComputeOptions
from fedparity.tables.opening import planned_records
from fedparity.text import counted, left, wrapped
from fedparity.version import __version__

__all__ = ["GIVES", "DoctorOptions", "doctor", "installed_extras"]

GIVES = {
    "dp": "plans with noise in each silo (differential privacy)",
    "excel": "Excel sheets",
    "fast": "compiled code for very large tables",
    "flower": "audits over Flower",
    "io": "Parquet and Arrow files, --where, faster CSV",
    "pdf": "the report as a PDF",
    "report": "the report as a page; figures",
    "secure": "sums that hide each silo's own numbers",
    "serve": "a collector of messages",
    "sign": "keys and signatures",
    "spark": "tables inside Spark",
    "sql": "tables of databases",
}
"""What each extra is for."""


@dataclass(frozen=True)
class Package:
    """A package that is needed, and what is there of it."""

    name: str
    needed: str
    """Versions, such as ``>=3.1``."""
    version: str | None
    """None if it is not installed."""

    @property
    def fits(self) -> bool:
        """Whether it is installed in a version that is needed."""
        return self.version is not None and _meets(self.version, self.needed)


_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*([^;]*)(?:;(.*))?")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")


def _requirements() -> Iterator[tuple[str | None, Package]]:
    """Every package that is needed, with its extra; None for what is always needed."""
    for text in metadata.requires("fedparity") or ():
        found = _REQUIREMENT.match(text)
        extra = None if found is None else _EXTRA.search(found[3] or "")
        if found is not None and (
            extra is None or extra[1] != "all"
        ):  # all is the others together
            yield extra and extra[1], Package(found[1], found[2].strip(), _version(found[1]))


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _meets(version: str, needed: str) -> bool:
    """Whether a version is in a list of lower (``>=``) and upper (``<``) ends.

    Examples
    --------
    >>> [_meets(version, ">=1.41,<1.42") for version in ("1.5", "1.41rc1", "1.41.2", "1.42.0")]
    [False, True, True, False]
    """

    def parts(text: str) -> list[int]:
        numbers = [int(found[0]) for each in text.split(".") if (found := re.match(r"\d+", each))]
        return numbers + [0] * (6 - len(numbers))

    for each in filter(None, needed.split(",")):
        sign, end = re.match(r"\s*([<>=!~]*)\s*(.*)", each).groups()  # type: ignore[union-attr]
        if sign == ">=" and parts(version) < parts(end):
            return False
        if sign == "<" and parts(version) >= parts(end):
            return False
    return True


def installed_extras() -> tuple[tuple[Package, ...], dict[str, tuple[Package, ...]]]:
    """Return the packages that are always needed, and those of each extra, by its name.

    Raises
    ------
    importlib.metadata.PackageNotFoundError
        If fedparity runs from a folder into which it was not installed.
    """
    core: list[Package] = []
    extras: dict[str, list[Package]] = {}
    for extra, package in _requirements():
        (core if extra is None else extras.setdefault(extra, [])).append(package)
    return tuple(core), {name: tuple(extras[name]) for name in sorted(extras)}


@dataclass(frozen=True)
class Finding:
    """What was found of one thing: words, and what is wrong with it."""

    words: str
    error: FedparityError | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    """The same for JSON."""
    notes: tuple[str, ...] = ()
    """Further sentences that are not mistakes."""
    table: tuple[str, ...] = ()
    """Further lines, laid out already."""

    def to_dict(self) -> dict[str, Any]:
        """Return the finding for JSON."""
        error = self.error
        return {
            **self.facts,
            "ok": error is None,
            "error": None if error is None else error.message,
            "fix": None if error is None else error.fix,
            "notes": list(self.notes),
        }

    def lines(self, name: str) -> list[str]:
        """Return the finding in 80 columns."""
        lines = wrapped(self.words, 80, first=f"{name:<8}", rest=" " * 8)
        for each in self.notes:
            lines += wrapped(each, 80, first=" " * 10)
        lines += [f"{'':10}{each}".rstrip() for each in self.table]
        if self.error is not None:
            first, *kinds = self.error.message.splitlines()
            lines += wrapped(first, 80, first="      ✗ ")
            for each in kinds:
                lines += wrapped(each.strip(), 80, first=" " * 10)
            first, *fixes = self.error.fix.splitlines()
            lines += wrapped(first, 80, first="        fix: ")
            for each in fixes:
                lines += wrapped(each.strip(), 80, first=" " * 13)
        return lines


@dataclass(frozen=True)
class DoctorOptions:
    """The options of a check."""

    silo: str | None = option("--silo NAME", "This silo's name: then the ledger is checked, too.")
    table: TableOptions = nested(TableOptions)
    places: LedgerOptions = nested(LedgerOptions)
    as_json: bool = option("--json", "Print the findings as JSON.")


@click.command
@click.argument("plan", type=click.Path(), required=False)
@click.argument("data", type=click.Path(), nargs=-1)
@with_options(DoctorOptions)
@click.pass_context
def doctor(
    context: click.Context, plan: str | None, data: tuple[str, ...], options: DoctorOptions
) -> None:
    """Say what is installed, where files are, and whether PLAN fits each DATA.

    Versions and extras; the policy and the ledger, and whether they can be read and written;
    with PLAN, whether it is valid and allowed here; with DATA, whether its columns, labels and
    scores fit, as a dry run would say. Nothing is written, and nothing leaves. Exit code 3 if
    something is wrong, 4 if a rule of this silo refuses the plan.

    \b
    Examples:
      fedparity doctor
      fedparity doctor plan.toml
      fedparity doctor plan.toml patients.csv --silo aurora --score risk \\
        --group sex
      fedparity doctor --json
    """
    sources = [options.table.source(each) for each in data]
    if options.table.url_file is not None:
        sources.append(options.table.source(None))
    if sources and plan is None:
        raise click.UsageError("a table is compared with a plan: name PLAN before DATA.")
    policy, law = _policy(options.places.policy)
    found = {"policy": [policy], "ledger": [_ledger(options.places, policy)]}
    if plan is not None:
        checked, agreed = _plan(plan, law)
        found["plan"] = [checked]
        if agreed is not None:
            found["data"] = [_data(agreed, each, options) for each in sources]
    everything = [each for findings in found.values() for each in findings]
    if options.as_json:
        single = {name: each[0].to_dict() for name, each in found.items() if name != "data"}
        document = {
            "schema": "fedparity/doctor/1",
            "ok": all(each.error is None for each in everything),
            **_installation(),
            **single,
            "data": [each.to_dict() for each in found.get("data", ())],
        }
        print_json(document)
    else:
        lines = [*_installation_lines(), ""]
        for name, findings in found.items():
            for each in findings:
                lines += each.lines(name)
        click.echo("\n".join(lines))
    context.exit(_code(each.error for each in everything))


def _code(errors: Iterable[FedparityError | None]) -> ExitCode:
    """What is wrong counts before what is refused."""
    wrong = [error for error in errors if error is not None]
    if not wrong:
        return ExitCode.OK
    refused = all(isinstance(error, DisclosureError) for error in wrong)
    return ExitCode.REFUSED if refused else ExitCode.BAD_INPUT


def _installation() -> dict[str, Any]:
    try:
        core, extras = installed_extras()
    except metadata.PackageNotFoundError:
        core, extras = (), {}
    return {
        "fedparity": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": [asdict(each) for each in core],
        "extras": [
            {
                "extra": name,
                "installed": all(each.fits for each in packages),
                "gives": GIVES.get(name, ""),
                "packages": [asdict(each) for each in packages],
            }
            for name, packages in extras.items()
        ],
        "kernel": "numpy" if find_spec("numba") is None else "numba",
    }


def _installation_lines() -> Iterator[str]:
    found = _installation()
    yield f"fedparity {__version__}, Python {found['python']}, {found['platform']}"
    core = ", ".join(f"{each['name']} {each['version']}" for each in found["packages"])
    yield from wrapped(core, 80, first="  ") if core else ["  run from a folder, not installed"]
    if found["extras"]:
        yield from ["", "Extras"]
    missing = []
    for each in found["extras"]:
        state = "installed" if each["installed"] else "missing"
        yield f"  {left(each['extra'], 8)} {left(state, 10)} {each['gives']}".rstrip()
        if not each["installed"]:
            missing.append(each["extra"])
            yield from wrapped(f"needs {_needed(each['packages'])}", 80, first=" " * 22)
    if missing:
        yield f"  to install one: pip install 'fedparity[{missing[0]}]'; all: 'fedparity[all]'"
    yield ""
    if found["kernel"] == "numba":
        yield f"kernel  numba for {ROWS_FOR_NUMBA:,} rows or more, numpy for fewer"
    else:
        yield "kernel  numpy; [fast] is quicker on very large tables, with the same result"


def _needed(packages: Iterable[dict[str, Any]]) -> str:
    """The packages that are missing or of another version."""
    named = []
    for package in (Package(**each) for each in packages):
        if not package.fits:
            there = "" if package.version is None else f" ({package.version} is installed)"
            named.append(f"{package.name}{package.needed}{there}")
    return ", ".join(named)


def _policy(given: str | None) -> tuple[Finding, Policy | None]:
    place = given or os.environ.get("FEDPARITY_POLICY") or default_policy_path()
    shown = "no folder for configuration" if place is None else printable(place)
    facts = {"path": None if place is None else str(place), "exists": False}
    try:
        law = find_policy(given)
    except FedparityError as error:
        return Finding(shown, error, facts), None
    if law.path is None:
        words = f"none, so the default rules apply; one would be read from {shown}"
        return Finding(words, facts=facts), law
    return Finding(shown, facts={**facts, "path": str(law.path), "exists": True}), law


def _ledger(options: LedgerOptions, policy: Finding) -> Finding:
    if policy.error is not None:  # it may name the ledger
        return Finding("unknown, as the policy cannot be read", facts={"path": None})
    try:
        _, record = options.find()
    except FedparityError as error:
        return Finding("unknown", error, {"path": None})
    exists, writable = record.path.exists(), _is_writable(record.path)
    facts = {"path": str(record.path), "exists": exists, "writable": writable, "entries": 0}
    try:
        entries = len(record.entries())
    except FedparityError as error:
        return Finding(printable(record.path), error, facts)
    state = counted(entries, "line") if exists else "begins with the first release"
    words = f"{printable(record.path)}: {state}, {'writable' if writable else 'not writable'}"
    problem = None if writable else _unwritable(record)
    return Finding(words, problem, {**facts, "entries": entries})


def _unwritable(record: Ledger) -> FedparityError:
    return DisclosureError(
        f"this account may not write the ledger {record.path}, so no release can be entered.",
        fix="change its permissions, or name another ledger with --ledger or $FEDPARITY_LEDGER.",
    )


def _is_writable(path: Path) -> bool:
    """Whether a file can be written, or made: then its folder, or the one above it, decides."""
    place = path.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    return os.access(place, os.W_OK)


def _plan(file: str, law: Policy | None) -> tuple[Finding, Plan | None]:
    facts: dict[str, Any] = {"path": file, "digest": None}
    name = printable(file)
    try:
        agreed = Plan.read(file)
    except FedparityError as error:
        return Finding(f"{name} is not a valid plan", error, facts), None
    facts["digest"] = agreed.digest
    words, notes = f"{name}: {agreed.digest}", plan_warnings(agreed)
    try:
        if law is not None:
            lawful(agreed, law)
    except FedparityError as error:
        return Finding(words, error, facts, notes), agreed
    return Finding(words, facts=facts, notes=notes), agreed


def _data(plan: Plan, source: object, options: DoctorOptions) -> Finding:
    """Whether a plan fits a table; what the rules of this silo say of it, if its name is known."""
    name = printable(source) if isinstance(source, str) else "the table of the database"
    facts: dict[str, Any] = {"path": source if isinstance(source, str) else None, "groups": None}
    mode, silo = mode_of(plan), options.silo or next(iter(plan.silos or ("silo",)))
    try:
        records = planned_records(source, plan, **options.table.reading())
        if not mode.in_rounds:
            mode.check(silo, weighted=records.weighted)
        with progress_bar("rows") as progress, records.explained(plan.score_range):
            shown = mode.preview(records, silo, ComputeOptions(progress=progress))
    except FedparityError as error:
        return Finding(f"{name} does not fit the plan", error, facts)
    notes: tuple[str, ...] = ()
    table: tuple[str, ...] = ()
    words = f"{name} fits the plan"
    if isinstance(shown, Release):
        words += f"; would send {numbers_words(shown.sketch)}"
        facts["groups"] = {
            group_words(group): decision.reasons for group, decision in shown.decisions.items()
        }
        notes = tuple(
            f"{group_words(group)}: {reason}"
            for group, decision in shown.decisions.items()
            for reason in decision.reasons
        )
        table = () if shown.rows is None else tuple(row_lines(shown.rows, 70))
    try:
        if options.silo is not None:
            law, ledger = options.places.policy, options.places.ledger
            permit = Permit.of(plan, silo, data=source, policy=law, ledger=ledger, in_period=True)
            permit.check()
    except FedparityError as error:
        return Finding(words, error, facts, notes, table)
    return Finding(words, None, facts, notes, table)
