"""Options that several commands share, in groups: frozen dataclasses that a decorator fills; and how a table was read.

A field declared by :func:`option` is an option of the command line under the field's name, one declared
by :func:`nested` a group of them; :func:`with_options` gives a command all of them, in that order.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from pathlib import Path
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NotRequired,
    TypeAlias,
    TypedDict,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import click
from click.core import ParameterSource

from fedparity.documents.fields import group_words
from fedparity.documents.files import is_address, read_secret
from fedparity.documents.plan import Plan
from fedparity.errors import DatabaseError, OptionError
from fedparity.errors.base import printable
from fedparity.privacy.ledger import Ledger, default_ledger_path
from fedparity.privacy.policy import RULES, Policy
from fedparity.silo.permit import find_policy
from fedparity.text import counted, width_of, wrapped

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from fedparity.service.sender import Door
    from fedparity.silo.permit import Permit
    from fedparity.sketches.records import RowCounts

__all__ = [
    "LEDGER",
    "PASSPHRASE_FILE",
    "POLICY",
    "POSITIVE",
    "PROBABILITY",
    "Callback",
    "CollectorOptions",
    "LedgerOptions",
    "PolicyOptions",
    "Reading",
    "ReleaseOptions",
    "SigningOptions",
    "TableOptions",
    "byte_count",
    "json_option",
    "nested",
    "option",
    "private_key",
    "reading_words",
    "row_lines",
    "row_words",
    "with_options",
]

Callback: TypeAlias = Callable[..., None]
_Group = TypeVar("_Group")

POSITIVE = click.FloatRange(min=0, min_open=True)
PROBABILITY = click.FloatRange(0, 1, min_open=True, max_open=True)


def option(flags: str, meaning: str, **attributes: Any) -> Any:  # noqa: ANN401 -- the field has the type
    """Declare a field of a group as an option.

    Parameters
    ----------
    flags : str
        As in the help, such as ``-o, --output FILE``.
    attributes
        Of :class:`click.Option`, that do not follow from the type of the field; or ``min``, of a whole number.
    """
    if "min" in attributes:
        attributes["type"] = click.IntRange(min=attributes.pop("min"))
    words = flags.replace(",", "").split()
    names = [word for word in words if word.startswith("-")]
    if words[-1] in ("FILE", "KEY") and "type" not in attributes:
        attributes["type"] = click.Path(allow_dash=True)  # so that shells complete it
    attributes |= {"metavar": " ".join(words[len(names) :]) or None, "help": meaning}
    return field(metadata={"option": (names, attributes)})


def nested(kind: type[_Group]) -> _Group:
    """Declare a field of a group as a group of its own."""
    declared: _Group = field(metadata={"group": kind})
    return declared


def with_options(kind: type) -> Callable[[Callback], Callback]:
    """Return a decorator that gives a command the options of a group; it gets them as ``options``."""

    def decorate(callback: Callback) -> Callback:
        @wraps(callback)
        def collected(*args: object, **values: object) -> None:
            callback(*args, options=_collect(kind, values), **values)

        for flags, attributes in reversed(_declared(kind)):
            click.option(*flags, **attributes)(collected)
        return collected

    return decorate


def _declared(kind: type) -> list[tuple[Sequence[str], dict[str, Any]]]:
    """The flags and attributes of all options of a group."""
    types, found = get_type_hints(kind), []
    for each in fields(kind):
        if "group" in each.metadata:
            found += _declared(each.metadata["group"])
        else:
            flags, attributes = each.metadata["option"]
            shown = {"show_default": "default" in attributes}
            found.append(
                ((*flags, each.name), {**_inferred(types[each.name]), **shown, **attributes})
            )
    return found


def _inferred(annotation: object) -> dict[str, Any]:
    """The attributes of an option that follow from the type of its field."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return {"type": click.Choice(arguments)}
    if origin is tuple:
        repeated = {"multiple": True} if ... in arguments else {"nargs": len(arguments)}
        return {**repeated, **_inferred(arguments[0])}
    if (
        NoneType in arguments
    ):  # typing caches unions of literals whatever their order: state choices
        return {} if get_origin(arguments[0]) is Literal else _inferred(arguments[0])
    if annotation is bool:
        return {"is_flag": True}
    return {"type": annotation} if annotation in (int, float) else {}


def _collect(kind: type, values: dict[str, object]) -> object:
    """Take the options of a group out of all values."""
    return kind(
        **{
            each.name: _collect(each.metadata["group"], values)
            if "group" in each.metadata
            else values.pop(each.name)
            for each in fields(kind)
        }
    )


def json_option(meaning: str) -> Callable[[Callback], Callback]:
    """Return the option ``--json`` of a command."""
    return click.option("--json", "as_json", is_flag=True, help=meaning)


_UNITS = "", "K", "M", "G", "T"
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)


def byte_count(_: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Return the number of bytes of a text such as 500MB, 2GB or 1.5GiB; a callback of click.

    Raises
    ------
    click.BadParameter
        If the text is not a size.
    """
    if text is None:
        return None
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        raise click.BadParameter(f"{text!r} is not a size such as 500MB or 2GB.", param=parameter)
    amount, unit, binary = found.groups()
    base = 1024 if binary else 1000
    return int(float(amount) * base ** _UNITS.index(unit.upper()))


class Reading(TypedDict):
    """What of a table is read, as functions of the library take it."""

    score: str | None
    group: tuple[str, ...] | None
    weight: str | None
    where: str | None
    mapping: dict[str, str] | None
    missing: Literal["refuse", "drop"]
    other: str | None
    axes: NotRequired[dict[str, str]]
    outcome: NotRequired[str]


@dataclass(frozen=True)
class TableOptions:
    """Which table is read, and what of it."""

    table: str | None = option("--table NAME", "Table of a database: NAME or SCHEMA.NAME.")
    query: str | None = option("--query SQL", "One statement that reads, instead of --table.")
    url_file: str | None = option(
        "--url-file FILE",
        "File with the address of a database, instead of DATA; - is the standard input.",
    )
    delimiter: str | None = option(
        "--delimiter CHAR", "Between fields of a text: ';', tab.  [default: comma]"
    )
    decimal: str = option(
        "--decimal MARK", "Decimal mark of numbers in a text: , or .", default="."
    )
    encoding: str | None = option(
        "--encoding NAME", "Encoding of a text: cp1252, latin-1, utf-16.  [default: utf-8]"
    )
    na: tuple[str, ...] = option(
        "--na TEXT", "Field that means a missing value, such as NA; may be repeated."
    )
    sheet: str | None = option("--sheet NAME", "Sheet of an Excel workbook.  [default: the first]")
    score: str | None = option("--score COL", "Column of the scores.  [default: score]")
    group: tuple[str, ...] = option(
        "--group COL", "Column of the groups; several for intersections.  [default: group]"
    )
    axis: tuple[str, ...] = option(
        "--axis NAME=COL", "Column of an axis of the plan; once for each.  [default: its name]"
    )
    outcome: str | None = option(
        "--outcome COL", "Column of the outcome, if the plan requests it.  [default: outcome]"
    )
    weight: str | None = option("--weight COL", "Column of survey or exposure weights.")
    where: str | None = option("--where SQL", "Read only rows that meet a condition.")
    mapping: tuple[str, ...] = option(
        "--map A=B", "Read label A as B; an empty A is a missing label."
    )
    missing: Literal["refuse", "drop"] = option(
        "--missing", "What to do about rows without a score.", default="refuse"
    )
    other: str | None = option("--other LABEL", "Group that takes labels the plan does not list.")

    def source(self, data: str | None) -> object:
        """Return the data: a path, or a table of a database.

        Raises
        ------
        click.UsageError
            If DATA and the options contradict each other.
        OptionError
            If an address on the command line has a password, or if others may read the file of the address.
        """
        data, own = self._stated(data)
        if own is not self:
            return own.source(data)
        if (data is None) == (self.url_file is None):
            raise click.UsageError("give either DATA or --url-file FILE.")
        if self.url_file is not None or is_address(data or ""):
            return self._database(data)
        if self.table is not None or self.query is not None:
            raise click.UsageError("--table and --query go with the address of a database.")
        return data if data is None else self._file(data)

    def _stated(self, data: str | None) -> tuple[str | None, TableOptions]:
        """Leave out what a file of settings says and the command line contradicts."""

        def outvoted(name: str, *others: str) -> bool:
            return _source_of(name) is _SETTINGS and any(
                _source_of(other) is ParameterSource.COMMANDLINE for other in others
            )

        if data is not None and outvoted("data", "url_file"):
            data = None
        gone = [name for name, other in _RIVALS.items() if outvoted(name, other)]
        if (
            data is not None
            and _source_of("data") is ParameterSource.COMMANDLINE
            and not is_address(data)
        ):
            gone += [name for name in ("table", "query") if _source_of(name) is _SETTINGS]
        changed: dict[str, Any] = {name: None for name in gone if getattr(self, name) is not None}
        return data, replace(self, **changed) if changed else self

    def _file(self, data: str) -> object:
        """A path, or a file that is written in another way than its name says."""
        from fedparity.tables.opening import file_source  # noqa: PLC0415 -- auditors read none

        return file_source(
            data,
            delimiter=self.delimiter,
            decimal=self.decimal,
            encoding=self.encoding,
            na=self.na,
            sheet=self.sheet,
        )

    def _database(self, data: str | None) -> object:
        from fedparity.tables.databases import Address, DatabaseTable, read_address  # noqa: PLC0415 -- most read files

        if self.url_file is not None:
            address = read_address(self.url_file)
        elif Address(address := data or "").has_secret:
            raise OptionError(
                "the address holds a password, which everybody on this machine can see in the list "
                "of processes, and which stays in the history of the shell.",
                fix="change the password, write the address to a file of mode 600 and pass "
                "--url-file FILE (- for the standard input), or use the password file of the "
                "database's own client.",
            )
        if (self.table is None) == (self.query is None):
            raise click.UsageError(
                "a database holds many tables: give either --table NAME or --query SQL."
            )
        try:
            return DatabaseTable(address, table=self.table, query=self.query)
        except DatabaseError as error:
            raise OptionError(error.message, fix=error.fix) from None

    def reading(self) -> Reading:
        """Return what of the table is read.

        Raises
        ------
        click.BadParameter
            If a pair of labels is not of the form A=B, or two have the same left side.
        """
        reading: Reading = {
            "score": self.score,
            "group": self.group or None,
            "weight": self.weight,
            "where": self.where,
            "mapping": _label_pairs(self.mapping) or None,
            "missing": self.missing,
            "other": self.other,
        }
        if self.axis:
            reading["axes"] = _label_pairs(self.axis, hint="--axis")
        if self.outcome is not None:
            reading["outcome"] = self.outcome
        return reading


_SETTINGS = ParameterSource.DEFAULT_MAP
_RIVALS = {"url_file": "data", "table": "query", "query": "table"}
"""Options of which the command line replaces one by another."""


def _source_of(name: str) -> ParameterSource | None:
    """Whether a parameter was given on the command line, by the settings, or not at all."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.get_parameter_source(name)


def _label_pairs(texts: Iterable[str], *, hint: str = "--map") -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        left, sign, right = text.partition("=")
        if not (sign and right):
            raise click.BadParameter(f"{text!r} is not of the form A=B.", param_hint=hint)
        if left in pairs:
            raise click.BadParameter(f"{left!r} is given twice.", param_hint=hint)
        pairs[left] = right
    return pairs


POLICY = "--policy FILE", "This silo's policy.  [default: per user]"
LEDGER = "--ledger FILE", "The ledger.  [default: per user]"
_WEAKER = (
    "--allow-weaker RULE",
    "Obey a plan that is weaker than this rule of the policy; may be repeated.",
)
PASSPHRASE_FILE = (
    "--passphrase-file FILE",
    "First line: the key's passphrase; - reads it from the input.",
)


@dataclass(frozen=True)
class PolicyOptions:
    """The policy of a silo, and the rules that a plan may be weaker than."""

    policy: str | None = option(*POLICY)
    allow_weaker: tuple[str, ...] = option(*_WEAKER, type=click.Choice(RULES))


@dataclass(frozen=True)
class LedgerOptions:
    """Where the ledger is."""

    policy: str | None = option(*POLICY)
    ledger: str | None = option(*LEDGER)

    def find(self) -> tuple[Policy, Ledger]:
        """Return the policy, and the ledger that is named, that of the policy, or that of the user."""
        own = find_policy(self.policy)
        path = Path(self.ledger) if self.ledger else own.ledger or default_ledger_path()
        return own, Ledger(path, must_exist=own.must_exist)


@dataclass(frozen=True)
class ReleaseOptions:
    """What a silo's policy and ledger need to know of a release."""

    policy: str | None = option(*POLICY)
    ledger: str | None = option("--ledger FILE", "Record of releases.  [default: per user]")
    no_ledger: bool = option("--no-ledger", "Do not check or write the ledger (tests only).")
    dataset: str | None = option("--dataset NAME", "Which data set of the policy the table is.")
    allow_weaker: tuple[str, ...] = option(*_WEAKER, type=click.Choice(RULES))
    again_because: str | None = option(
        "--again-because TEXT", "Why a second release of the same records is acceptable."
    )
    in_period: bool = option("--in-period", "The rows are limited to the plan's period.")

    def permit(self, plan: Plan, silo: str, data: object, reading: Mapping[str, Any]) -> Permit:
        """Return the permit for a release.

        Raises
        ------
        RuleError
            If the silo's policy forbids the plan.
        """
        from fedparity.silo.permit import Permit  # noqa: PLC0415 -- auditors need none

        if self.no_ledger and self.ledger:
            raise click.UsageError("give either --ledger or --no-ledger.")
        return Permit.of(
            plan,
            silo,
            data=data,
            policy=self.policy,
            ledger=False if self.no_ledger else self.ledger,
            dataset=self.dataset,
            allow_weaker=self.allow_weaker,
            again_because=self.again_because,
            in_period=self.in_period,
            reading=reading,
        )


@dataclass(frozen=True)
class SigningOptions:
    """The key to sign with."""

    sign: str | None = option("--sign KEY", "File of the private key to sign with.")
    passphrase_file: str | None = option(*PASSPHRASE_FILE)

    def key(self) -> Ed25519PrivateKey | None:
        """Return the key, or None if none is named."""
        if self.sign is not None:
            return private_key(self.sign, self.passphrase_file)
        if self.passphrase_file is not None:
            raise click.UsageError("--passphrase-file needs a key: --sign KEY.")
        return None


def private_key(path: str, passphrase_file: str | None) -> Ed25519PrivateKey:
    """Return the key of a file; its passphrase is read from another, or typed at a terminal."""
    from fedparity.documents.signing import read_key  # noqa: PLC0415 -- for those who sign

    def passphrase() -> bytes | None:
        if passphrase_file is not None:
            return read_secret(passphrase_file)
        if not sys.stdin.isatty():
            return None
        typed: str = click.prompt("Passphrase of the key", hide_input=True, err=True)
        return typed.encode()

    return read_key(path, passphrase=passphrase)


@dataclass(frozen=True)
class CollectorOptions:
    """The collector's address, and the silo's token."""

    to: str = option("--to URL", "Address of the collector.", required=True)
    token_file: str = option(
        "--token-file FILE",
        "File with the silo's token, which only its owner can read.",
        required=True,
    )
    ca_file: str | None = option(
        "--ca-file FILE", "Certificates to trust, in PEM, if not those of the system."
    )

    def door(self) -> Door:
        """Return the way to the collector.

        Raises
        ------
        OptionError
            If others can read the token, or the address would send it in the clear.
        """
        from fedparity.service.sender import Door  # noqa: PLC0415 -- only if something is sent

        token = read_secret(self.token_file, "token").decode("ascii", "replace")
        return Door(self.to, token, ca_file=self.ca_file)


_WHY = {
    "map": "--map",
    "other": "--other",
    "missing": "the plan's group for missing labels",
    "spelling": "another spelling",
}
_MOST_LABELS = 20


def reading_words(reading: Mapping[str, Any]) -> str:
    """Return how a table was read, as options of the command line.

    Examples
    --------
    >>> reading_words({"score": "risk", "where": "year = 2026", "map": {"F": "female", "": "unknown"}})
    '--score risk, --where "year = 2026", --map "F=female", --map "=unknown"'
    """
    words = []
    for name in ("score", "group", "weight", "where", "map", "missing", "other"):
        value = reading.get(name)
        if name == "map":
            words += [f'--map "{label}={group}"' for label, group in (value or {}).items()]
        elif name == "where" and value:
            words.append(f'--where "{value}"')
        elif value:
            words += [
                f"--{name} {each}" for each in ([value] if isinstance(value, str) else value)
            ]
    return printable(", ".join(words))


def row_lines(rows: RowCounts, width: int) -> list[str]:
    """Return the accounting of all rows, one reason per line, in numbers that add up."""
    counts = {
        "rows read": rows.read,
        "left out by the filter": rows.filtered,
        "left out without a score": rows.without_score,
        "of weight 0, which count for nothing": rows.weightless,
        "records": rows.records,
    }
    shown = {text: n for text, n in counts.items() if n or text in ("rows read", "records")}
    wide = max(map(len, shown))
    lines = ["Rows of the table"]
    lines += [f"  {text:{wide}}  {n:>{len(f'{rows.read:,}')},}" for text, n in shown.items()]
    if rows.relabeled:
        lines += ["", "Labels that count as a group of another name"]
        common = rows.relabeled.most_common(_MOST_LABELS)
        digits = len(f"{common[0][1]:,}")
        for own, number in common:
            label = "no label" if own.label is None else f"“{own.label}”"
            text = f"{label} counts as {group_words(own.group)} ({_WHY[own.reason]})"
            first = f"  {number:>{digits},}  "
            lines += wrapped(printable(text), width, first=first, rest=" " * width_of(first))
        if more := len(rows.relabeled) - len(common):
            lines.append(f"  and {counted(more, 'label')} more")
    return lines


def row_words(rows: Mapping[str, Any]) -> str:
    """Return the same of an entry of the ledger, as a sentence."""
    words = [f"{rows['read']:,} rows read"]
    words += [f"{rows['filtered']:,} left out by the filter"] if rows["filtered"] else []
    words += [f"{rows['without_score']:,} without a score"] if rows["without_score"] else []
    words += [f"{rows['weightless']:,} of weight 0"] if rows["weightless"] else []
    for own in rows["relabeled"][:_MOST_LABELS]:
        label = "no label" if own["label"] is None else f"“{own['label']}”"
        group = tuple(own["group"]) if isinstance(own["group"], list) else own["group"]
        words.append(f"{own['rows']:,} with {label} as {group_words(group)} ({own['reason']})")
    if (more := len(rows["relabeled"]) - _MOST_LABELS) > 0:
        words.append(f"and {counted(more, 'label')} more")
    return printable(", ".join(words))
