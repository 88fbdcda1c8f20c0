"""The engines of an audit under one interface: the same records and plan, three ways to a result.

``in_process`` is :func:`fedparity.simulate`; ``files`` writes each silo's message to a folder and audits
the folder; ``flower`` runs the two apps over a grid in this process. Faults disturb one silo.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.secure_rounds import Rounds

import fedparity as fp
from fedparity.documents.signing import generate_key, public_text, write_key
from fedparity.engines.remote.settings import SiloSettings
from fedparity.modes.mode import mode_of
from fedparity.modes.secure.secure_mode import SecureMode
from fedparity.silo.sketch import prepare
from fedparity.tables.opening import label_columns, open_records

SILOS = ("aurora", "bayside", "cedar", "dune")
COLUMNS = {"score": "score", "group": "group"}
REDRAWS = 20
"""Of the bootstrap: few, since only equality is asked for."""

Table = Mapping[str, Any]


def some_tables(
    rows: int = 150, *, silos: tuple[str, ...] = SILOS, seed: int = 0
) -> dict[str, Table]:
    """Records of each silo: two groups whose scores differ, more in some silos than in others."""
    random = np.random.default_rng(seed)
    tables = {}
    for place, silo in enumerate(silos):
        groups = np.where(random.random(rows) < 0.3 + 0.1 * place, "A", "B")
        scores = random.beta(2 + 0.4 * place, 3 + (groups == "A"), rows).round(4)
        tables[silo] = {"score": scores.tolist(), "group": groups.tolist()}
    return tables


def outcome_tables(rows: int = 400) -> dict[str, Table]:
    """The same with two axes and an outcome, as a plan with tables reads them."""
    random = np.random.default_rng(7)
    tables = some_tables(rows)
    for table in tables.values():
        table |= {
            "sex": random.choice(["f", "m"], rows).tolist(),
            "outcome": np.where(random.random(rows) < table["score"], "yes", "no").tolist(),
        }
    return tables


def columns_of(plan: fp.Plan) -> dict[str, Any]:
    """How tables are read; axes and the outcome have columns of their own names."""
    return {"score": "score"} if plan.axes else COLUMNS


def rows_where(table: Table, kept: Callable[[int, str], bool]) -> Table:
    """The rows of a table that are to be kept, by their place and group."""
    places = [place for place, group in enumerate(table["group"]) if kept(place, group)]
    return {name: [column[place] for place in places] for name, column in table.items()}


def pooled(tables: Mapping[str, Table]) -> dict[str, list[Any]]:
    """One table of all silos, with a column that names them."""
    columns = dict.fromkeys(name for table in tables.values() for name in table)
    return {
        "silo": [silo for silo, table in tables.items() for _ in table["score"]],
        **{
            name: [value for table in tables.values() for value in table[name]] for name in columns
        },
    }


def some_plan(silos: tuple[str, ...] = SILOS, **options: Any) -> fp.Plan:
    """A small plan of these silos."""
    defaults: dict[str, Any] = {"levels": 5, "score_range": (0.0, 1.0), "groups": ("A", "B")}
    return fp.Plan(title="Q4", silos=silos, **(defaults | options))


def write_csv(path: Path, table: Table) -> Path:
    """Write a table; a float is read back as it was."""
    lines = [
        ",".join(table),
        *(",".join(map(str, row)) for row in zip(*table.values(), strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_keys(folder: Path, silos: tuple[str, ...] = SILOS) -> dict[str, Any]:
    """A key for each silo, in a file of its own; returns the keys."""
    keys = {silo: generate_key() for silo in silos}
    for silo, key in keys.items():
        write_key(folder / f"{silo}.key", key)
    return keys


def public_keys(keys: Mapping[str, Any]) -> dict[str, str]:
    """What a plan says of keys."""
    return {silo: public_text(key) for silo, key in keys.items()}


def in_process(plan: fp.Plan, tables: Mapping[str, Table]) -> str:
    """The result of a simulation."""
    table = pooled(tables)
    return fp.simulate(
        table, silo="silo", plan=plan, redraws=REDRAWS, **columns_of(plan)
    ).to_json()


def write_messages(
    plan: fp.Plan,
    tables: Mapping[str, Table],
    folder: Path,
    keys: Mapping[str, Any] | None = None,
) -> dict[str, Path]:
    """Each silo's message in a file, as ``fedparity sketch`` writes it; silos that fail write none."""
    paths = {}
    folder.mkdir()
    for silo, table in tables.items():
        try:
            release = prepare(table, plan=plan, silo=silo, **columns_of(plan))
        except fp.InputError:
            continue
        if keys:
            release = release.signed(keys[silo])
        paths[silo] = folder / f"{silo}.json"
        release.sketch.write(paths[silo])
    return paths


def write_rounds(
    plan: fp.Plan,
    tables: Mapping[str, Table],
    folder: Path,
    keys: Mapping[str, Any] | None = None,
) -> None:
    """All messages of a secure sum in files; silos of the plan without a table drop out."""
    rounds = Rounds(plan, dict(keys or {})).share()
    for silo, table in tables.items():
        named = {name: column for name, column in columns_of(plan).items() if name == "group"}
        records = open_records(
            table, score="score", group=label_columns(plan, **named), groups=plan.record_labels
        )
        rounds.mask(silo, SecureMode(plan).vector(records))
    request = rounds.request()
    for silo in tables if keys else ():
        rounds.consent(silo, request)
    for silo in tables:
        rounds.answer(silo, request)
    folder.mkdir()
    for place, message in enumerate(rounds.sent):
        message.write(folder / f"{place}.json")


def audit_folder(plan: fp.Plan, folder: Path) -> str:
    """The result of all messages in a folder."""
    return fp.audit(plan, sorted(folder.glob("*.json")), redraws=REDRAWS).to_json()


def in_files(
    plan: fp.Plan,
    tables: Mapping[str, Table],
    folder: Path,
    keys: Mapping[str, Any] | None = None,
) -> str:
    """The result of messages that went through files."""
    (write_rounds if mode_of(plan).in_rounds else write_messages)(plan, tables, folder, keys)
    return audit_folder(plan, folder)


Handler = Callable[..., Any]
Fault = Callable[[Handler], Handler]
"""From a silo's true app to what its node does instead."""


@dataclass(kw_only=True)
class FlowerRun:
    """One run of the apps: every silo has its own file, ledger, and folder of what left.

    Parameters
    ----------
    faults : mapping of silo to Fault
        What a silo's node does instead of running the app.
    settings : mapping of silo to settings
        What a silo's node has beside or instead of the usual settings.
    registered : bool
        Whether the grid knows each node by its silo's name.
    extra : sequence of nodes
        Silo and settings of nodes that are there beside one for each table.
    """

    plan: fp.Plan
    tables: Mapping[str, Table]
    folder: Path
    faults: Mapping[str, Fault] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    registered: bool = False
    extra: tuple[Mapping[str, Any], ...] = ()
    keys: Mapping[str, Any] | None = None
    grid_type: Any = None
    grid: Any = field(default=None, init=False)

    @property
    def out(self) -> Path:
        """The auditor's folder."""
        return Path(str(self.run_config["output"]))

    @property
    def messages(self) -> dict[str, bytes]:
        """The messages kept, by the name of their file."""
        return {path.name: path.read_bytes() for path in (self.out / "messages").iterdir()}

    @property
    def run_config(self) -> dict[str, Any]:
        """The configuration of the run."""
        defaults = {
            "output": str(self.folder / "out"),
            "wait": 0.0,
            "time-limit": 30.0,
            "redraws": REDRAWS,
        }
        return defaults | dict(self.config)

    def node_config(self, silo: str) -> dict[str, Any]:
        """The settings of a silo."""
        self.folder.mkdir(exist_ok=True)
        data = self.folder / f"{silo}.csv"
        written = self.folder / f".{silo}.written"  # once: a test may take the file away
        if silo in self.tables and not written.exists():
            write_csv(data, self.tables[silo])
            written.touch()
        own: dict[str, Any] = {
            "silo": silo,
            "plan": self.plan.digest,
            "data": str(data),
            "ledger": str(self.folder / f"{silo}.ledger"),
            "folder": str(self.folder / f"{silo}-left"),
        }
        if self.keys:
            own["sign"] = str(self.folder / f"{silo}.key")
        own |= self.settings.get(silo, {})
        if self.plan.privacy is not None:
            with suppress(BaseException):  # settings that are wrong on purpose
                SiloSettings.from_mapping(own).make_ready(self.plan)
        return own

    def go(self) -> str:
        """Run the auditor's app, and return the result as it was written."""
        from tests.flower_grid import LocalGrid, run_server  # noqa: PLC0415

        from fedparity.engines.flower.apps import auditor_app, silo_app  # noqa: PLC0415

        app = silo_app()
        nodes, names = {}, {}
        for number, silo in enumerate(self.tables, start=10):
            nodes[number] = (self.faults.get(silo, lambda real: real)(app), self.node_config(silo))
            if self.registered:
                names[number] = silo
        for number, own in enumerate(self.extra, start=900):
            nodes[number] = (app, own)
        self.grid = (self.grid_type or LocalGrid)(nodes, run_config=self.run_config, names=names)
        run_server(auditor_app(self.plan), self.grid, self.run_config)
        return (self.out / "result.json").read_text("utf-8").removesuffix("\n")

    def again(self, **changes: Any) -> FlowerRun:
        """The same silos asked once more, by an auditor with another folder."""
        config = {**self.config, "output": f"{self.run_config['output']}-again"}
        return replace(self, **({"config": config} | changes))


def silent(_: Handler) -> Handler:
    """A node that never replies."""
    return lambda _message, _context: None


def raising(error: BaseException) -> Fault:
    """A node whose app raises, which Flower forwards text and all."""

    def fault(_: Handler) -> Handler:
        def handler(_message: Any, _context: Any) -> Any:
            raise error

        return handler

    return fault


def flower_error(code: int, reason: str = "") -> Fault:
    """A node that Flower answers for, with an error of its own."""

    def fault(_: Handler) -> Handler:
        def handler(message: Any, _context: Any) -> Any:
            from flwr.app import Error, Message  # noqa: PLC0415

            return Message(Error(code=code, reason=reason), reply_to=message)

        return handler

    return fault


def replying(record: Mapping[str, Any] | None, *, name: str = "fedparity") -> Fault:
    """A node that replies with a record of its own making; without any if it is None."""

    def fault(_: Handler) -> Handler:
        def handler(message: Any, _context: Any) -> Any:
            from flwr.app import ConfigRecord, Message, RecordDict  # noqa: PLC0415

            content = {} if record is None else {name: ConfigRecord(dict(record))}
            return Message(RecordDict(content), reply_to=message)

        return handler

    return fault


def altered(change: Callable[[bytes], bytes]) -> Fault:
    """A silo whose true message is changed before it leaves."""

    def fault(real: Handler) -> Handler:
        def handler(message: Any, context: Any) -> Any:
            reply = real(message, context)
            record = reply.content["fedparity"]
            if "message" in record:
                record["message"] = change(record["message"])
            return reply

        return handler

    return fault


def repeating(real: Handler) -> Handler:
    """A silo that sends its first message again and again."""
    first: dict[str, bytes] = {}

    def handler(message: Any, context: Any) -> Any:
        reply = real(message, context)
        record = reply.content["fedparity"]
        if "message" in record:
            record["message"] = first.setdefault("message", record["message"])
        return reply

    return handler


def from_step(step: str, fault: Fault) -> Fault:
    """A silo that is well until it is asked for this step."""

    def late(real: Handler) -> Handler:
        handlers = {"now": real}

        def handler(message: Any, context: Any) -> Any:
            if str(message.content["fedparity"]["step"]) == step:
                handlers["now"] = fault(real)
            return handlers["now"](message, context)

        return handler

    return late


def settings_in(folder: Path, plan: fp.Plan, /, *, silo: str = "aurora", **changes: Any) -> Any:
    """The settings of one silo whose file, ledger and folder are in ``folder``."""
    run = FlowerRun(plan=plan, tables={silo: some_tables()["aurora"]}, folder=folder)
    return SiloSettings.from_mapping(run.node_config(silo) | changes)
