"""The settings of a silo, decided before any request: which plan, which data, under which name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from fedparity.documents.files import file_name, is_address, read_secret
from fedparity.documents.json_text import TomlSyntaxError, parse_toml
from fedparity.documents.plan import Plan, read_plan_text
from fedparity.documents.signing import read_key
from fedparity.errors import (
    ApprovalError,
    DatabaseError,
    DocumentError,
    FedparityError,
    OptionError,
    SettingsError,
)
from fedparity.modes.mode import mode_of
from fedparity.privacy.ledger import default_ledger_path
from fedparity.silo.permit import Permit, find_policy
from fedparity.sketches.records import ArrayRecords, Records
from fedparity.tables.databases import Address, DatabaseTable, read_address
from fedparity.tables.opening import file_source, planned_records
from fedparity.tables.table import PAIRED, TABLE_SETTINGS

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["KEYS", "Scalar", "SiloSettings", "flat_settings", "reading_of"]

_READY = "ready"
"""The ending of the file that says that a table was found to be usable."""

Scalar: TypeAlias = bool | int | float | str

_FLAGS = "again", "in-period"
KEYS: dict[str, str] = {
    "silo": "this silo's name in the plan",
    "plan": "the plan that was read and approved: its file, or its digest (sha256:...)",
    **TABLE_SETTINGS,
    "policy": "this silo's policy; per user if absent",
    "dataset": "which data set of the policy it is, where that does not follow from its path",
    "allow-weaker": "rules of the policy that the plan may be weaker than, separated by commas",
    "again-because": "why a second release of the same records is acceptable",
    "in-period": "true if the rows are limited to the plan's period",
    "sign": "file of the private key to sign with",
    "passphrase-file": "file whose first line is the passphrase of that key",
    "ledger": "record of releases; that of the policy, or per user, if absent",
    "folder": "the folder of released messages; next to the ledger if absent",
    "again": "true to send once more what was sent; never anything else",
}
"""What the settings of a silo may say; ``map`` and ``axis`` are tables, as in ``map.LABEL``."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SiloSettings:
    """The settings of one silo; of its own making, and never the auditor's.

    Examples
    --------
    >>> settings = SiloSettings.from_mapping(
    ...     {"silo": "aurora", "plan": "sha256:" + 64 * "0", "data": "a.csv", "group": "sex,age"}
    ... )
    >>> settings.reading["group"]
    ('sex', 'age')
    """

    silo: str
    approved: str | None
    """The digest of the plan that the operator agreed to; None if nothing has to be protected."""
    data: object = field(repr=False)
    """A table, or the records of a simulated silo."""
    reading: Mapping[str, Any] = field(repr=False)
    """Which columns and rows of a table, as :func:`fedparity.sketch` takes them."""
    folder: Path
    permit_options: Mapping[str, Any] | None = field(repr=False)
    """The options of the silo's permit, as :meth:`Permit.of` takes them; None where nothing has to be
    protected."""
    key: str | None = None
    passphrase: str | None = None
    """The file that holds it."""
    again: bool = False

    @classmethod
    def from_mapping(cls, given: Mapping[str, Scalar]) -> SiloSettings:
        """Return the settings of a mapping, as a node's configuration holds it.

        Raises
        ------
        SettingsError
            If a key is missing, unknown, or has an invalid value.
        """
        _refuse_unknown(given)
        text = {key: _text(key, value) for key, value in given.items() if key not in _FLAGS}
        if not text.get("silo"):
            raise SettingsError.missing("silo", KEYS["silo"])
        if not text.get("plan"):
            raise SettingsError(
                "the settings of this silo do not say which plan was approved: plan is empty or missing.",
                fix="read the plan with fedparity plan show PLAN.toml, and if this silo is to answer it, "
                "write the digest printed there to plan.",
            )
        flags = {key: given.get(key, False) for key in _FLAGS}
        for key, value in flags.items():
            if not isinstance(value, bool):
                raise SettingsError.wrong(key, "true or false")
        try:
            policy = find_policy(text.get("policy"))
            ledger = Path(text.get("ledger") or policy.ledger or default_ledger_path())
            data = _data(text)
        except (OptionError, DatabaseError, OSError) as error:
            raise SettingsError(
                f"the data of this silo cannot be used: {_reason(error)}.",
                fix="correct the settings that are passed as --node-config.",
            ) from None
        return cls(
            silo=text["silo"],
            approved=_digest(text["plan"]),
            data=data,
            reading=reading_of(text),
            folder=Path(text["folder"]) if "folder" in text else ledger.parent / "outbox",
            permit_options={
                "policy": policy,
                "ledger": ledger,
                "dataset": text.get("dataset"),
                "allow_weaker": _listed(text.get("allow-weaker", "")),
                "again_because": text.get("again-because"),
                "in_period": flags["in-period"],
            },
            key=text.get("sign"),
            passphrase=text.get("passphrase-file"),
            again=bool(flags["again"]),
        )

    @classmethod
    def read(cls, path: str) -> SiloSettings:
        """Return the settings of a TOML file.

        Raises
        ------
        SettingsError
            If it is not TOML, or :meth:`from_mapping` raises it.
        """
        try:
            document = parse_toml(read_plan_text(path))
        except TomlSyntaxError as error:
            where = "" if error.line is None else f" in line {error.line}"
            raise SettingsError(
                f"{path} is not TOML: {error.problem}{where}.", fix="correct that line."
            ) from None
        return cls.from_mapping(flat_settings(document))

    def permit(self, plan: Plan) -> Permit | None:
        """Return the permit to answer a plan; None where nothing has to be protected.

        Raises
        ------
        RuleError
            If the silo's policy forbids it.
        """
        if self.permit_options is None:
            return None
        return Permit.of(
            plan, self.silo, data=self.data, reading=self.reading, **self.permit_options
        )

    def check_approved(self, plan: Plan) -> None:
        """Raise an ApprovalError if the plan is not the one that the operator agreed to."""
        if self.approved is not None and plan.digest != self.approved:
            raise ApprovalError.other_plan(plan.digest, self.approved)

    def make_ready(self, plan: Plan) -> None:
        """Let the node read the table under a plan with a privacy mode: once.

        To be called when its operator has seen that the table can be used. Whether it can is exact
        knowledge of the data, so only the operator may learn it.
        """
        self.kept(plan, _READY).touch(mode=0o600)

    def use_ready(self, plan: Plan) -> None:
        """Take back what :meth:`make_ready` gave, before the table is opened.

        Raises
        ------
        ApprovalError
            If nothing was given, or it was used.
        """
        if self.approved is None or not mode_of(plan).protected:
            return
        try:
            self.kept(plan, _READY).unlink()
        except FileNotFoundError:
            raise ApprovalError(
                "the plan has a privacy mode, under which this silo's table is read once, after its "
                "operator has seen that it can be used; it has not been checked since.",
                fix="run fedparity engine flower preview SETTINGS --plan PLAN here, then wait for the "
                "auditor to send the request again.",
            ) from None

    def records(self, plan: Plan) -> Records:
        """Return the records, in the groups of a plan; they are not read yet."""
        if isinstance(self.data, ArrayRecords):
            return self.data
        return planned_records(self.data, plan, **self.reading)

    def signing_key(self) -> Ed25519PrivateKey | None:
        """Return the key to sign with, if one is named."""
        if self.key is None:
            return None
        file = self.passphrase
        return read_key(self.key, passphrase=None if file is None else lambda: read_secret(file))

    def kept(self, plan: Plan, ending: str) -> Path:
        """Return the file of the message released under a plan, in an existing folder."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        digits = plan.digest.rpartition(":")[2][:12]
        return self.folder / f"{file_name(self.silo)}-{digits}.{ending}"


def flat_settings(document: Mapping[str, Any]) -> dict[str, Scalar]:
    """Return a TOML document as Flower passes it on: a table's keys come after its name and a dot.

    Raises
    ------
    SettingsError
        If a value is neither text, number nor boolean.

    Examples
    --------
    >>> flat_settings({"silo": "aurora", "map": {"AFR": "AA"}})
    {'silo': 'aurora', 'map.AFR': 'AA'}
    """
    flat: dict[str, Scalar] = {}
    for key, value in document.items():
        if isinstance(value, dict):
            flat |= {f"{key}.{name}": inner for name, inner in flat_settings(value).items()}
        elif isinstance(value, bool | int | float | str):
            flat[key] = value
        else:
            raise SettingsError.wrong(key, "a text, a number, or true or false")
    return flat


def _listed(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _refuse_unknown(given: Mapping[str, Scalar]) -> None:
    for key in given:
        table, dot, _ = key.partition(".")
        if (table not in PAIRED) if dot else (key not in KEYS):
            raise SettingsError.unknown(key, KEYS)
        if key in PAIRED:
            raise SettingsError.wrong(key, f'a table, with a line such as {key}.NAME = "..."')


def _text(key: str, value: Scalar) -> str:
    if not isinstance(value, str):
        raise SettingsError.wrong(key, "a text in quotes")
    return value


def _digest(plan: str) -> str:
    """The digest that the operator wrote down, or that of the file."""
    if plan.startswith("sha256:"):
        return plan
    try:
        return Plan.read(plan).digest
    except DocumentError as error:
        raise SettingsError(
            f"the plan in the settings of this silo cannot be used: {error.message.rstrip('.')}.",
            fix="name the file of the plan that was approved, or its digest.",
        ) from None


def _data(text: Mapping[str, str]) -> object:
    if ("data" in text) == ("url-file" in text):
        raise SettingsError.missing("data", "or url-file, and not both")
    table, query = text.get("table"), text.get("query")
    if "url-file" in text:
        return DatabaseTable(read_address(text["url-file"]), table=table, query=query)
    if is_address(text["data"]):
        if Address(text["data"]).has_secret:
            raise SettingsError.secret()
        return DatabaseTable(text["data"], table=table, query=query)
    if table is not None or query is not None:
        raise SettingsError.wrong("table", "left out: data is not the address of a database")
    return file_source(
        text["data"],
        delimiter=text.get("delimiter"),
        decimal=text.get("decimal", "."),
        encoding=text.get("encoding"),
        na=_listed(text.get("na", "")),
        sheet=text.get("sheet"),
    )


def reading_of(text: Mapping[str, str]) -> dict[str, Any]:
    """Return which columns and rows are read, as :func:`fedparity.sketch` takes them."""
    columns = _listed(text.get("group", ""))
    missing: Literal["refuse", "drop"] = "drop" if text.get("missing") == "drop" else "refuse"
    if text.get("missing", missing) != missing:
        raise SettingsError.wrong("missing", "refuse or drop")
    return {
        "score": text.get("score"),
        "group": columns or None,
        "axes": _pairs(text, "axis"),
        "outcome": text.get("outcome"),
        "weight": text.get("weight"),
        "where": text.get("where"),
        "mapping": _pairs(text, "map"),
        "missing": missing,
        "other": text.get("other"),
    }


def _pairs(text: Mapping[str, str], table: str) -> dict[str, str] | None:
    """What the lines of a table say; None without lines."""
    start = f"{table}."
    return {key.removeprefix(start): text[key] for key in text if key.startswith(start)} or None


def _reason(error: OptionError | DatabaseError | OSError) -> str:
    if isinstance(error, FedparityError):
        return error.message.rstrip(".")
    return (error.strerror or type(error).__name__).lower()
