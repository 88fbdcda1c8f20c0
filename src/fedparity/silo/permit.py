"""The permission to release: the silo's policy and its ledger, checked before and while a message leaves.

Every way out of a silo goes through here: the command line, the engines, :func:`fedparity.sketch` and the
steps of a secure sum. The order is always the same: the plan is judged before a record is read, the
message is complete on disk, then its entry is in the ledger, then it gets its name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from fedparity.documents.fields import json_label
from fedparity.documents.files import Path as FilePath
from fedparity.documents.files import StagedFile, refuse_existing, staged
from fedparity.documents.message import SiloSketch
from fedparity.documents.plan import Plan
from fedparity.errors import LedgerError, PlanError, RuleError
from fedparity.modes.mode import mode_of
from fedparity.privacy.ledger import Entry, Ledger, default_ledger_path, now
from fedparity.privacy.policy import Policy, allowed, check_approvals, earlier, replaced, spent
from fedparity.sketches.records import RowCounts
from fedparity.tables.opening import FileTable, label_columns, table_names

__all__ = [
    "AnyLedger",
    "AnyPolicy",
    "Leaving",
    "Permit",
    "check_auditor",
    "default_policy_path",
    "find_policy",
    "lawful",
    "plan_view",
]

AnyPolicy: TypeAlias = Policy | str | os.PathLike[str] | None
"""A policy, its file, or None for that of the user."""
AnyLedger: TypeAlias = Ledger | str | os.PathLike[str] | Literal[False] | None
"""A ledger, its file, None for that of the policy or user, or False for none."""


def lawful(plan: Plan, policy: Policy, allow_weaker: Sequence[str] = ()) -> tuple[str, ...]:
    """Raise if the policy forbids a plan; return the rules that it is weaker than, all overridden.

    Raises
    ------
    RuleError
        If a rule refuses it, or it is not signed by an auditor that the policy lists.
    """
    check_auditor(plan, policy)
    return policy.check(plan.to_dict(), allow_weaker)


class Leaving(Protocol):
    """A message that leaves a silo: a sketch, or a masked vector."""

    @property
    def content_digest(self) -> str:
        """The digest of its content, which does not depend on the signature or the version."""
        ...

    @property
    def digest(self) -> str:
        """Of the message as it is."""
        ...

    @property
    def replaces(self) -> str | None:
        """The message that was voided for it."""
        ...

    def to_bytes(self) -> bytes:
        """Return what is sent."""
        ...


@dataclass(frozen=True, kw_only=True)
class Permit:
    """What a silo may release under one plan; built only if the policy allows the plan."""

    plan: Plan
    silo: str
    policy: Policy
    ledger: Ledger | None
    dataset: str | None
    """The name in the policy; None if all tables of the silo form one data set."""
    table: str | None
    weaker: tuple[str, ...] = ()
    again_because: str | None = None
    in_period: bool = False
    reading: Mapping[str, Any] | None = None
    """How the table is read, as the ledger records it."""

    @classmethod
    def of(
        cls,
        plan: Plan,
        silo: str,
        *,
        data: object,
        policy: AnyPolicy = None,
        ledger: AnyLedger = None,
        dataset: str | None = None,
        allow_weaker: Sequence[str] = (),
        again_because: str | None = None,
        in_period: bool = False,
        reading: Mapping[str, Any] | None = None,
    ) -> Permit:
        """Return the permit of a silo to answer a plan from its data.

        ``reading`` is what :func:`fedparity.sketch` reads of the table: columns, filter and map.

        Raises
        ------
        RuleError
            If the policy forbids the plan, does not list the data set, or requires a ledger.
        PolicyError
            If the policy cannot be read.
        """
        law = find_policy(policy)
        weaker = lawful(plan, law, allow_weaker)
        tables = table_names(data)
        return cls(
            plan=plan,
            silo=silo,
            policy=law,
            ledger=_chosen(ledger, law),
            dataset=law.dataset_of(tables, dataset),
            table=_table(data, tables),
            weaker=weaker,
            again_because=(again_because or "").strip() or None,
            in_period=in_period,
            reading=_recorded(plan, reading or {}),
        )

    def voided(self) -> str | None:
        """Return the message under this plan that a new one replaces, if it was voided."""
        return None if self.ledger is None else replaced(self.ledger.entries(), self._entry())

    def check(self) -> None:
        """Raise what can be refused before records are read.

        Raises
        ------
        RuleError
            If the people named in the policy have not approved the plan.
        LedgerError, BudgetError
            If the ledger would refuse any release.
        """
        if self.ledger is None:
            check_approvals((), self.plan.digest, self.policy)
            return
        entries = self.ledger.entries()
        check_approvals(entries, self.plan.digest, self.policy)
        allowed(entries, self._entry(), self.policy, self.ledger.path)

    @contextmanager
    def commit(
        self,
        release: str,
        message: str,
        *,
        replaces: str | None = None,
        file: StagedFile | None = None,
        rows: RowCounts | None = None,
    ) -> Iterator[None]:
        """Enter a release into the ledger, then let the caller send it, under one lock.

        Raises
        ------
        RuleError, LedgerError, BudgetError
            As :meth:`check`, before the body runs.
        """
        if self.ledger is None:
            check_approvals((), self.plan.digest, self.policy)
            yield
            return
        path = self.ledger.path
        entry = self._entry(
            release=release,
            message=message,
            replaces=replaces,
            file=None if file is None else os.path.abspath(file.name),  # noqa: PTH100
            staged=None if file is None else os.path.abspath(file.temporary),  # noqa: PTH100
            rows=None if rows is None else _rows_document(rows),
        )

        def judge(entries: Sequence[Entry]) -> bool:
            check_approvals(entries, self.plan.digest, self.policy)
            return allowed(entries, entry, self.policy, path)

        with self.ledger.commit(entry, judge):
            yield

    def write(
        self,
        path: FilePath,
        message: Leaving,
        *,
        force: bool = False,
        rows: RowCounts | None = None,
    ) -> None:
        """Write a message, then its entry, then give the message its name.

        Raises
        ------
        OutputError
            If the file cannot be written, or exists and ``force`` is not set; nothing is entered.
        RuleError, LedgerError, BudgetError
            If the release is refused; nothing is written.
        """
        with (
            staged(path, message.to_bytes(), force=force, keep=True) as file,
            self.commit(
                message.content_digest,
                message.digest,
                replaces=message.replaces,
                file=file,
                rows=rows,
            ),
        ):
            file.put()

    def record(self, message: Leaving, *, rows: RowCounts | None = None) -> None:
        """Enter a message into the ledger, before anybody else sees it.

        Raises
        ------
        RuleError, LedgerError, BudgetError
            If the release is refused; the same message may be entered again.
        """
        with self.commit(
            message.content_digest, message.digest, replaces=message.replaces, rows=rows
        ):
            pass

    def finish(self, path: FilePath, *, force: bool = False) -> SiloSketch | None:
        """Complete a release whose entry is on disk and whose file never got its name.

        Return the message that is in ``path`` now; None if there is nothing to complete.

        Raises
        ------
        OutputError
            If the file exists and ``force`` is not set, or cannot be written.
        LedgerError
            If the file that was left is not the one of the entry.
        """
        entry = self.standing()
        if entry is None or entry.staged is None or not os.path.isfile(entry.staged):  # noqa: PTH113
            return None
        if not force:
            refuse_existing(path)
        message = SiloSketch.read(entry.staged)
        if message.digest != entry.message:
            raise LedgerError(
                f"{entry.staged} is not the message that was entered on {entry.time}.",
                fix=f"run fedparity ledger void {entry.message} --because TEXT, and make a new one.",
            )
        StagedFile(os.fspath(path), entry.staged, force).put()
        Path(entry.staged).unlink(missing_ok=True)  # its other name, where it was linked
        return message

    def standing(self) -> Entry | None:
        """Return the release under this plan that is on record and not voided, or None."""
        entries = () if self.ledger is None else self.ledger.entries()
        voided = {entry.release for entry in entries if entry.entry == "void"}
        made = [
            entry
            for entry in entries
            if entry.entry == "release"
            and (entry.plan, entry.silo) == (self.plan.digest, self.silo)
            and entry.release not in voided
        ]
        return made[-1] if made else None

    @property
    def earlier(self) -> list[Entry]:
        """The releases of the same records on record."""
        return [] if self.ledger is None else earlier(self.ledger.entries(), self._entry())

    @property
    def spent(self) -> float:
        """What all releases of the same records have cost together."""
        return 0.0 if self.ledger is None else spent(self.ledger.entries(), self._entry())

    @property
    def dataset_words(self) -> str:
        """What the data set is called in a sentence."""
        if self.dataset is None:
            return f"all tables of {self.silo}"
        return f"the data set “{self.dataset}”"

    def _entry(self, **stated: Any) -> Entry:  # noqa: ANN401 -- as Entry takes them
        cost = mode_of(self.plan).cost
        return Entry(
            entry="release",
            time=now(),
            plan=self.plan.digest,
            silo=self.silo,
            dataset=self.dataset,
            table=self.table,
            view=plan_view(self.plan),
            in_period=self.in_period or None,
            epsilon=cost.epsilon,
            budget=cost.budget,
            because=self.again_because,
            weaker=list(self.weaker) or (),
            reading=self.reading,
            **stated,
        )


def _recorded(plan: Plan, reading: Mapping[str, Any]) -> dict[str, Any] | None:
    """The options of reading that were given, as the ledger records them."""
    group = reading.get("group")
    if plan.releases_tables and "groups" not in reading:  # else the columns are resolved already
        named = {name: reading.get(name) for name in ("group", "axes", "outcome")}
        group = label_columns(plan, **named)
    stated = {
        "score": reading.get("score"),
        "group": [group] if isinstance(group, str) else list(group or ()),
        "weight": reading.get("weight"),
        "where": reading.get("where"),
        "map": dict(reading.get("mapping") or {}),
        "other": reading.get("other"),
        "missing": None if reading.get("missing") == "refuse" else reading.get("missing"),
    }
    return {name: value for name, value in stated.items() if value} or None


def _rows_document(rows: RowCounts) -> dict[str, Any]:
    """The numbers of rows read, filtered and relabeled, as the ledger records them."""
    return {
        "read": rows.read,
        "filtered": rows.filtered,
        "without_score": rows.without_score,
        "weightless": rows.weightless,
        "relabeled": [
            {"label": own.label, "group": json_label(own.group), "reason": own.reason, "rows": n}
            for own, n in sorted(rows.relabeled.items(), key=lambda item: (-item[1], str(item[0])))
        ],
    }


def plan_view(plan: Plan) -> dict[str, Any]:
    """Return what a plan requests of the records, in the form in which the ledger compares two plans."""
    document = plan.to_dict()
    mode = mode_of(plan)
    return {
        "title": plan.title,
        "mode": mode.name,
        "sketch": plan.sketch,
        "groups": document["groups"],
        "levels": plan.levels,
        "thresholds": document["thresholds"],
        "grid": mode.view,
        "period": document["period"],
        **{name: document[name] for name in ("axes", "outcome") if name in document},
    }


def _table(data: object, tables: Sequence[str]) -> str | None:
    """The name of the source in the ledger: of many files, their pattern."""
    if isinstance(data, FileTable):
        data = data.path
    if len(tables) > 1 and isinstance(data, str | os.PathLike):
        return os.path.abspath(data)  # noqa: PTH100 -- a pattern
    return tables[0] if tables else None


def _chosen(ledger: AnyLedger, policy: Policy) -> Ledger | None:
    """The ledger to use; a policy may prescribe one, and may require that there is one."""
    if ledger is False:
        if not policy.without_ledger:
            raise RuleError(
                f"{policy.name} allows no message that no ledger knows of.",
                fix="leave out --no-ledger (ledger=False in Python); for a simulation, use "
                "fedparity simulate.",
            )
        return None
    if isinstance(ledger, Ledger):
        ledger = ledger.path
    path = Path(ledger) if ledger else policy.ledger or default_ledger_path()
    if policy.ledger is not None and path.absolute() != policy.ledger.absolute():
        raise RuleError(
            f"{policy.name} names another ledger, {policy.ledger}.",
            fix="leave out --ledger; to move the ledger, change the policy.",
        )
    return Ledger(path, must_exist=policy.must_exist)


def check_auditor(plan: Plan, policy: Policy) -> None:
    """Raise unless a plan is signed by an auditor of the policy; a policy may name none.

    Raises
    ------
    RuleError
        If it is not signed, by another, or was changed afterwards.
    """
    if not policy.auditors:
        return
    known: Mapping[str, str] = {key: name for name, key in policy.auditors.items()}
    if plan.signature is None or plan.signature["key"] not in known:
        whose = "not signed" if plan.signature is None else "signed with another key"
        raise RuleError(
            f"the plan is {whose}; {policy.name} obeys only {', '.join(policy.auditors)}.",
            fix="ask the auditor to run fedparity plan sign; if the auditor's key changed, check the "
            "new one by another channel and put it under [auditors] of the policy.",
        )
    from fedparity.documents.signing import check_plan_signature  # noqa: PLC0415 -- few policies need it

    try:
        check_plan_signature(plan)
    except PlanError as error:
        raise RuleError(error.message, fix=error.fix) from None


def find_policy(given: Policy | str | os.PathLike[str] | None = None) -> Policy:
    """Return the policy of this silo: the one given, that of this user, or the default one.

    Raises
    ------
    PolicyError
        If the file that is named, by ``$FEDPARITY_POLICY`` too, is not there or has a mistake.
    """
    if isinstance(given, Policy):
        return given
    named = given or os.environ.get("FEDPARITY_POLICY")
    path = named or default_policy_path()
    if path is None or not (named or os.path.lexists(path)):
        return Policy()
    from fedparity.documents.policy_file import read_policy  # noqa: PLC0415 -- few silos have one

    return read_policy(path)


def default_policy_path() -> Path | None:
    """Return where the policy of this user is, if it has a place: in the folder for configuration.

    That folder is ``$XDG_CONFIG_HOME`` (``~/.config`` if unset), on Windows ``%APPDATA%``; the file in
    it is ``fedparity/policy.toml``.
    """
    variable = "APPDATA" if os.name == "nt" else "XDG_CONFIG_HOME"
    folder = Path(os.environ.get(variable, ""))
    if not folder.is_absolute():  # the XDG specification: ignore a relative one
        try:
            folder = Path.home() / ".config"
        except RuntimeError:
            return None
    return folder / "fedparity" / "policy.toml"
