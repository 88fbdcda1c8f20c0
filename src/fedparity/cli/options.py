"""The options by which an operator deals with the silo's own law: its policy and its ledger."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from fedparity.documents.plan import Plan
from fedparity.errors import DatabaseError, MissingSiloError, OptionError
from fedparity.errors.base import printable
from fedparity.privacy.policy import RULES, Policy
from fedparity.silo.permit import Permit
from fedparity.tables.databases import Address, DatabaseTable, is_address, read_address

__all__ = [
    "byte_count",
    "check_all_there",
    "data_of",
    "law_options",
    "mapping_of",
    "permit_of",
    "policy_option",
    "policy_words",
    "reading_of",
    "table_options",
    "weaker_option",
]

_UNITS = "", "K", "M", "G", "T"
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)


def byte_count(_: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Return the number of bytes of a text such as 500MB, 2GB or 1.5GiB; as click calls it.

    Raises
    ------
    click.BadParameter
        If it is none.
    """
    if text is None:
        return None
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        raise click.BadParameter(f"{text!r} is not a size such as 500MB or 2GB.", param=parameter)
    amount, unit, binary = found.groups()
    base = 1024 if binary else 1000
    return int(float(amount) * base ** _UNITS.index(unit.upper()))


def mapping_of(texts: Iterable[str], option: str) -> dict[str, str]:
    """Return the pairs of several ``A=B``.

    Raises
    ------
    click.BadParameter
        If one is not a pair, or two have the same left side.
    """
    pairs: dict[str, str] = {}
    for text in texts:
        left, sign, right = text.partition("=")
        if not (sign and right):
            raise click.BadParameter(f"{text!r} is not of the form A=B.", param_hint=option)
        if left in pairs:
            raise click.BadParameter(f"{left!r} is given twice.", param_hint=option)
        pairs[left] = right
    return pairs


def data_of(options: dict[str, Any]) -> object:
    """Take the data out of all options: a path, or a table of a database.

    Raises
    ------
    click.UsageError
        If what was given does not go together.
    OptionError
        If the address has a password and stands on the command line, or its file is open to others.
    """
    data, file = options.pop("data"), options.pop("url_file")
    table, query = options.pop("table"), options.pop("query")
    if (data is None) == (file is None):
        raise click.UsageError("give either DATA or --url-file FILE.")
    if file is not None:
        return _database(read_address(file), table, query)
    if is_address(data):
        if Address(data).has_secret:
            raise _secret_on_the_command_line()
        return _database(data, table, query)
    if table is not None or query is not None:
        raise click.UsageError("--table and --query go with the address of a database.")
    return data


def _database(address: str, table: str | None, query: str | None) -> DatabaseTable:
    if (table is None) == (query is None):
        raise click.UsageError(
            "a database holds many tables: give either --table NAME or --query SQL."
        )
    try:
        return DatabaseTable(address, table=table, query=query)
    except DatabaseError as error:
        raise OptionError(error.message, fix=error.fix) from None


def _secret_on_the_command_line() -> OptionError:
    return OptionError(
        "the address holds a password, which everybody on this machine can see in the list of "
        "processes, and which stays in the history of the shell.",
        fix="change the password, write the address to a file of mode 600 and pass --url-file FILE "
        "(- for the standard input), or use the password file of the database's own client.",
    )


policy_option = click.option(
    "--policy", metavar="FILE", help="This silo's policy.  [default: per user]"
)
weaker_option = click.option(
    "--allow-weaker",
    multiple=True,
    type=click.Choice(RULES),
    metavar="RULE",
    help="Obey a plan that is weaker than this rule of the policy; may be repeated.",
)
_POLICY_OPTIONS = (
    policy_option,
    click.option("--ledger", metavar="FILE", help="Record of releases.  [default: per user]"),
    click.option("--no-ledger", is_flag=True, help="Neither ask nor write the record."),
    click.option("--dataset", metavar="NAME", help="Which data set of the policy the table is."),
    weaker_option,
    click.option(
        "--again-because",
        metavar="TEXT",
        help="Why a second release of the same records is acceptable.",
    ),
    click.option("--in-period", is_flag=True, help="The rows are limited to the plan's period."),
)


def law_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a release."""
    for option in reversed(_POLICY_OPTIONS):
        command = option(command)
    return command


def permit_of(options: dict[str, Any], plan: Plan, silo: str, data: object) -> Permit:
    """Return the permit that these options ask for.

    Raises
    ------
    RuleError
        If the silo's policy forbids the plan.
    """
    if options["no_ledger"] and options["ledger"]:
        raise click.UsageError("give either --ledger or --no-ledger.")
    return Permit.of(
        plan,
        silo,
        data=data,
        policy=options["policy"],
        ledger=False if options["no_ledger"] else options["ledger"],
        dataset=options["dataset"],
        allow_weaker=options["allow_weaker"],
        again_because=options["again_because"],
        in_period=options["in_period"],
    )


def policy_words(policy: Policy) -> str:
    """Return which policy was obeyed, for a line of output."""
    return "default" if policy.path is None else printable(policy.path)


_TABLE_OPTIONS = (
    click.option("--table", metavar="NAME", help="Table of a database: NAME or SCHEMA.NAME."),
    click.option("--query", metavar="SQL", help="One statement that reads, instead of --table."),
    click.option(
        "--url-file",
        metavar="FILE",
        help="File with the address of a database, instead of DATA; - is the standard input.",
    ),
    click.option("--score", metavar="COL", help="Column of the scores.  [default: score]"),
    click.option(
        "--group",
        multiple=True,
        metavar="COL",
        help="Column of the groups; several for intersections.  [default: group]",
    ),
    click.option("--weight", metavar="COL", help="Column of survey or exposure weights."),
    click.option("--where", metavar="SQL", help="Read only rows that meet a condition."),
    click.option(
        "--map",
        "mapping",
        multiple=True,
        metavar="A=B",
        help="Read label A as B; an empty A is a missing label.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["refuse", "drop"]),
        default="refuse",
        show_default=True,
        help="What to do about rows without a score.",
    ),
    click.option(
        "--other", metavar="LABEL", help="Group that takes labels the plan does not list."
    ),
)


def table_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say what of a table is read."""
    for option in reversed(_TABLE_OPTIONS):
        command = option(command)
    return command


def reading_of(options: dict[str, Any]) -> dict[str, Any]:
    """Take these options out of all options, as a function of the library takes them."""
    names = ("score", "group", "weight", "where", "mapping", "missing", "other")
    reading = {name: options.pop(name) for name in names}
    reading["group"] = reading["group"] or None
    reading["mapping"] = mapping_of(reading["mapping"], "--map") or None
    return reading


def check_all_there(plan: Plan, missing: Sequence[str]) -> None:
    """Raise if a silo of the roster sent nothing, or if there is no roster to tell.

    Raises
    ------
    MissingSiloError
        If one is missing.
    click.UsageError
        If the plan has no roster.
    """
    if plan.silos is None:
        raise click.UsageError("--require-all needs a plan with a roster (silos = [...]).")
    if missing:
        raise MissingSiloError.required(missing, len(plan.silos))
