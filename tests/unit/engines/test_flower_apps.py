"""The two apps of Flower: what leaves a silo, what a run's configuration may say, and many silos."""

import json
import os
import subprocess
import sys

import pytest
from tests.engine_harness import (
    SILOS,
    FlowerRun,
    public_keys,
    raising,
    some_plan,
    some_tables,
    write_keys,
    write_messages,
)

import fedparity as fp

pytest.importorskip("fedparity.engines.flower.apps", reason="fedparity[flower] is not installed")

from flwr.app import ConfigRecord, Message, RecordDict
from flwr.common.serde import recorddict_to_proto
from tests.flower_grid import LocalGrid, run_server

from fedparity.engines.flower import QUIET, be_quiet
from fedparity.engines.flower.apps import auditor_app, terms_of
from fedparity.engines.remote.conversation import Terms

TABLES = some_tables()
MARK = "SECRET-0.7131"


class Panic(BaseException):
    """As libraries in other languages raise them: no Exception."""


class TappedGrid(LocalGrid):
    """A grid that keeps every byte that silos send."""

    def _replies(self, node, message):
        replies = super()._replies(node, message)
        for reply in replies:
            if reply.has_error():
                self.tap.append(reply.error.reason.encode())
            else:
                self.tap.append(recorddict_to_proto(reply.content).SerializeToString())
        return replies

    @property
    def tap(self):
        """All that was sent."""
        return self.__dict__.setdefault("_tap", [])


RAISED = {
    "an error of a library": RuntimeError(MARK),
    "an error on purpose": fp.errors.TableError(f"{MARK}.", fix=MARK),
    "no memory": MemoryError(MARK),
    "an exit": SystemExit(MARK),
    "a panic": Panic(MARK),
}
pytestmark = pytest.mark.usefixtures("lenient_law")
REMOTE = "fedparity.engines.remote."
ROUNDS = "fedparity.modes.secure.rounds."
SKETCH_PLACES = {
    "settings": "fedparity.engines.flower.apps.SiloSettings.from_mapping",
    "request": "fedparity.engines.flower.apps.request_of",
    "opening": REMOTE + "settings.planned_records",
    "ledger": "fedparity.privacy.ledger.Ledger.commit",
    "key": REMOTE + "settings.read_key",
    "writing": "fedparity.silo.permit.staged",
}
ROUND_PLACES = {
    "keys": ROUNDS + "publish_keys",
    "shares": ROUNDS + "share_secrets",
    "counting": "fedparity.modes.noisy.grid_counts",
    "mask": ROUNDS + "mask",
    "mask's ledger": "fedparity.silo.permit.Permit.record",
    "consent": ROUNDS + "consent",
    "unmask": ROUNDS + "answer_request",
    "state": "fedparity.modes.secure.silo_state.StateFile.replace",
}
MODES = {
    "plain": ({}, SKETCH_PLACES | {"releasing": "fedparity.modes.plain.measure_records"}),
    "dp": (
        {"privacy": {"mode": "dp", "epsilon": 2.0, "bins": 8}},
        SKETCH_PLACES | {"releasing": "fedparity.modes.noisy.grid_counts"},
    ),
    "secure": ({"privacy": {"mode": "secure", "bins": 8}}, ROUND_PLACES),
    "secure+dp": ({"privacy": {"mode": "secure+dp", "epsilon": 2.0, "bins": 8}}, ROUND_PLACES),
}
LEAKS = [
    pytest.param(mode, place, id=f"{mode}, {place}")
    for mode, (_, places) in MODES.items()
    for place in places
]


@pytest.mark.parametrize(("mode", "place"), LEAKS)
def test_no_text_of_an_error_leaves_a_silo(mode, place, monkeypatch, tmp_path, capsys):
    """Whatever is raised wherever: neither in the bytes that are sent, nor on the standard output."""
    if "dp" in mode:
        pytest.importorskip("opendp", reason="fedparity[dp] is not installed")
    options, places = MODES[mode]
    for number, error in enumerate(RAISED.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        keys = write_keys(folder)
        plan = some_plan(keys=public_keys(keys), **options)
        run = FlowerRun(plan=plan, tables=TABLES, folder=folder, keys=keys, grid_type=TappedGrid)

        def raiser(*_, error=error, **__):
            raise error

        with monkeypatch.context() as patch, pytest.raises(fp.errors.MissingSiloError):  # noqa: PT012
            patch.setattr(places[place], raiser)
            run.go()

        assert run.grid.tap
        assert not any(MARK.encode() in data for data in run.grid.tap)
        assert MARK not in capsys.readouterr().out


def test_the_tap_would_show_a_text_that_leaves(tmp_path):
    """Or the test above would show nothing."""
    run = FlowerRun(
        plan=some_plan(),
        tables=TABLES,
        folder=tmp_path,
        faults={"cedar": raising(RuntimeError(MARK))},
        config={"quorum": 3},
        grid_type=TappedGrid,
    )

    run.go()

    assert any(MARK.encode() in data for data in run.grid.tap)


def test_what_an_engine_forwards_is_neither_printed_nor_kept(tmp_path, capsys):
    """Should a silo's other software let a text out, the auditor's side does not spread it."""
    run = FlowerRun(
        plan=some_plan(),
        tables=TABLES,
        folder=tmp_path,
        faults={"cedar": raising(RuntimeError(MARK))},
        config={"quorum": 3},
    )

    run.go()

    assert MARK not in capsys.readouterr().out
    assert not any(MARK in path.read_text() for path in run.out.rglob("*.json"))


@pytest.mark.parametrize(
    "privacy",
    [None, {"mode": "dp", "epsilon": 2.0, "bins": 8}, {"mode": "secure", "bins": 8}],
    ids=["plain", "dp", "secure"],
)
def test_a_second_run_is_refused_and_with_again_it_is_the_first_one(privacy, tmp_path):
    if privacy and "epsilon" in privacy:
        pytest.importorskip("opendp", reason="fedparity[dp] is not installed")
    first = FlowerRun(plan=some_plan(privacy=privacy), tables=TABLES, folder=tmp_path)
    result = first.go()

    second = first.again()
    word = "answered before" if privacy is None else "no answer"
    with pytest.raises(fp.errors.MissingSiloError, match=rf"'aurora' \({word}\)"):
        second.go()
    third = second.again(settings={silo: {"again": True} for silo in SILOS})

    assert third.go() == result
    assert third.messages == first.messages


def test_another_plan_is_not_answered(tmp_path):
    run = FlowerRun(
        plan=some_plan(),
        tables=TABLES,
        folder=tmp_path,
        settings={"dune": {"plan": some_plan(levels=4).digest, "data": str(tmp_path / "none")}},
    )

    with pytest.raises(fp.errors.MissingSiloError, match=r"'dune' \(plan not approved\)"):
        run.go()


# The configuration of a run


def test_the_terms_of_a_run_are_those_of_its_configuration():
    run = {
        "quorum": 3,
        "wait": 5,
        "time-limit": 20.0,
        "confidence": 0.9,
        "seed": 7,
        "redraws": 100,
        "output": "x",
    }

    found = terms_of(run)

    assert found == Terms(quorum=3, wait=5.0, limit=20.0, confidence=0.9, seed=7, redraws=100)
    assert terms_of({}) == Terms()
    assert terms_of({"quorum": 0, "redraws": 0}) == Terms()


def test_numbers_may_come_as_text_or_as_whole_floats():
    assert terms_of({"quorum": "3", "wait": "1.5"}) == Terms(quorum=3, wait=1.5)
    assert terms_of({"quorum": 3.0}) == Terms(quorum=3)


WRONG = {
    "a word for a quorum": {"quorum": "most"},
    "half a silo": {"quorum": 2.5},
    "less than one silo": {"quorum": 0.5},
    "true for a quorum": {"quorum": True},
    "infinitely many": {"quorum": float("inf")},
    "no number of them": {"quorum": float("nan")},
    "a word for a time": {"wait": "long"},
    "no time": {"time-limit": 0},
    "a confidence of 95": {"confidence": 95},
    "a seed below zero": {"seed": -1},
    "one redraw": {"redraws": 1},
}


@pytest.mark.parametrize("run", WRONG.values(), ids=WRONG.keys())
def test_a_configuration_that_is_none_is_refused_before_anybody_is_asked(run, tmp_path):
    grid = LocalGrid({})
    grid.get_nodes = None  # whoever looks for nodes fails

    with pytest.raises(fp.errors.OptionError) as caught:
        run_server(auditor_app(some_plan()), grid, {"output": str(tmp_path / "out"), **run})

    assert caught.value.fix
    assert not (tmp_path / "out").exists()


def test_confidence_and_seed_of_the_run_are_used(tmp_path):
    plan, config = some_plan(), {"confidence": 0.8, "seed": 3, "redraws": 50}
    run = FlowerRun(plan=plan, tables=TABLES, folder=tmp_path, config=config)

    found = run.go()

    paths = sorted((run.out / "messages").iterdir())
    assert found == fp.audit(plan, paths, confidence=0.8, seed=3, redraws=50).to_json()
    assert found != fp.audit(plan, paths, redraws=50).to_json()


def test_without_an_output_the_folder_is_named_after_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = FlowerRun(plan=some_plan(), tables=TABLES, folder=tmp_path, config={"output": ""})

    with pytest.raises(FileNotFoundError):  # the harness looks in the folder that was not named
        run.go()

    assert (tmp_path / "fedparity-run-17" / "result.json").is_file()


def test_the_plan_may_be_given_by_its_file(tmp_path):
    plan = some_plan()
    plan.write(tmp_path / "plan.toml")
    grid = LocalGrid({})
    run = {"output": str(tmp_path / "out"), "wait": 0.0}

    with pytest.raises(
        fp.errors.MissingSiloError, match="0 of the 4 silos of the plan are connected"
    ):
        run_server(auditor_app(tmp_path / "plan.toml"), grid, run)


# Many silos


class UnserialisedGrid(LocalGrid):
    """Messages arrive as they are: thousands of them are not the question of their format."""

    def push_messages(self, messages):
        """Let every node answer."""
        numbers = []
        for message in messages:
            number = f"message-{len(self.asked)}"
            message.metadata.__dict__["_message_id"] = number
            node = message.metadata.dst_node_id
            self.asked.append((node, "sketch"))
            reply = self._handlers[node](message, self._contexts[node])
            self._box[number] = [] if reply is None else [reply]
            numbers.append(number)
        return numbers


def test_2630_answers_of_5000_silos_are_no_result(tmp_path, capsys):
    """The failure that once looked like a success."""
    silos = tuple(f"s{number:04}" for number in range(5000))
    plan = some_plan(silos)
    (path,) = write_messages(plan, {silos[0]: TABLES["aurora"]}, tmp_path / "m").values()
    template = path.read_bytes()

    def handler(message, context):
        if context.node_id >= 2630:
            return None
        silo = silos[context.node_id]
        data = template.replace(silos[0].encode(), silo.encode())
        record = ConfigRecord({"silo": silo, "message": data})
        return Message(RecordDict({"fedparity": record}), reply_to=message)

    grid = UnserialisedGrid({number: (handler, {}) for number in range(5000)})
    run = {"output": str(tmp_path / "out"), "wait": 0.0, "time-limit": 1.0}

    with pytest.raises(fp.errors.MissingSiloError) as caught:
        run_server(auditor_app(plan), grid, run)

    said = caught.value.message
    assert "2,630 of the 5,000 silos of the plan answered, and the quorum is 5,000" in said
    assert "2,370 × no answer in time" in said
    assert len(said) < 600
    assert not (tmp_path / "out" / "result.json").exists()
    assert len(list((tmp_path / "out" / "messages").iterdir())) == 2630
    outcomes = [
        e["outcome"] for e in json.loads((tmp_path / "out/exchange.json").read_text())["asked"]
    ]
    assert (outcomes.count("answered"), outcomes.count("no answer in time")) == (2630, 2370)
    assert len(capsys.readouterr().out.splitlines()) < 60


# What Flower does unasked


def test_flower_is_quiet_once_the_engine_is_imported():
    code = f"import os, fedparity.engines.flower; print(*map(os.environ.get, {list(QUIET)!r}))"
    loud = dict.fromkeys(QUIET, "loud")

    printed = subprocess.run(  # noqa: S603 -- our own statement
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **loud},
    ).stdout

    assert printed.split() == ["0", "1", "1", "0"]
    assert list(QUIET) == [
        "FLWR_TELEMETRY_ENABLED",
        "FLWR_DISABLE_UPDATE_CHECK",
        "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION",
        "RAY_USAGE_STATS_ENABLED",
    ]


def test_an_environment_can_be_made_quiet_without_touching_ours(monkeypatch):
    monkeypatch.setenv("FLWR_TELEMETRY_ENABLED", "loud")
    own = {"PATH": "x", "FLWR_TELEMETRY_ENABLED": "1"}

    be_quiet(own)

    assert own == {"PATH": "x", **QUIET}
    assert os.environ["FLWR_TELEMETRY_ENABLED"] == "loud"


@pytest.mark.parametrize(
    "statement",
    [
        "import fedparity",
        "import fedparity.cli.main",
        "import fedparity.engines.remote.remote_audit",
    ],
)
def test_flower_is_not_imported_where_it_is_not_used(statement):
    code = f"import sys; {statement}; print('flwr' in sys.modules)"

    printed = subprocess.run(  # noqa: S603 -- our own statement
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout

    assert printed.strip() == "False"
