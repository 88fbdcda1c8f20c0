"""Silos of a simulation: the records of one table, and no settings of their own."""

import json

import pytest
from tests.engine_harness import (
    REDRAWS,
    SILOS,
    in_process,
    pooled,
    some_plan,
    some_tables,
    write_csv,
)

import fedparity as fp
from fedparity.documents.signing import generate_key, public_text
from fedparity.engines.remote import ALLOWED
from fedparity.engines.remote.remote_silo import simulated_settings

pytest.importorskip("fedparity.engines.flower.apps", reason="fedparity[flower] is not installed")

from tests.flower_grid import LocalGrid, run_server

from fedparity.engines.flower.apps import auditor_app, silo_app

TABLES = some_tables()
PLAN = some_plan()


@pytest.fixture(autouse=True)
def _started_for_a_simulation(monkeypatch, tmp_path):
    """States of a secure sum go to a folder named after the run; every run here has one number."""
    monkeypatch.setenv(ALLOWED, "1")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))


def simulated(folder, plan=PLAN, nodes=None, **config):
    """The result, as written, of a run whose nodes are those of a simulation."""
    data = write_csv(folder / "all.csv", pooled(TABLES))
    run = {"output": str(folder / "out"), "wait": 0.0, "time-limit": 30.0, "redraws": REDRAWS}
    run |= {"simulated-data": str(data), **config}
    app = silo_app()
    if nodes is None:
        nodes = [{"partition-id": n, "num-partitions": len(SILOS)} for n in range(len(SILOS))]
    grid = LocalGrid({n: (app, own) for n, own in enumerate(nodes, 10)}, run_config=run)
    run_server(auditor_app(plan), grid, run)
    return (folder / "out" / "result.json").read_text("utf-8").removesuffix("\n")


PLANS = {
    "plain": {},
    "secure": {"privacy": {"mode": "secure", "bins": 8}},
}


@pytest.mark.parametrize("options", PLANS.values(), ids=PLANS.keys())
def test_simulated_silos_give_the_result_of_simulate(options, tmp_path):
    plan = some_plan(**options)

    assert simulated(tmp_path, plan) == in_process(plan, TABLES)


def test_the_columns_of_the_table_are_those_of_the_run(tmp_path):
    table = pooled(TABLES)
    renamed = {"h": table["silo"], "z": table["score"], "sex": table["group"]}
    data = write_csv(tmp_path / "renamed.csv", renamed)
    names = {"simulated-silo": "h", "simulated-score": "z", "simulated-group": "sex"}

    found = simulated(tmp_path, **({"simulated-data": str(data)} | names))

    assert found == in_process(PLAN, TABLES)


def test_a_node_takes_the_place_of_the_silo_at_its_position(tmp_path):
    run = {"simulated-data": str(write_csv(tmp_path / "all.csv", pooled(TABLES)))}

    settings = simulated_settings(PLAN, 2, run, 1)

    assert (settings.silo, settings.permit_options, settings.approved) == ("cedar", None, None)
    assert settings.records(PLAN).rows == 150


def test_a_later_run_reads_the_table_anew(tmp_path):
    run = {"simulated-data": str(write_csv(tmp_path / "all.csv", pooled(TABLES)))}
    before = simulated_settings(PLAN, 0, run, 1).records(PLAN)
    write_csv(tmp_path / "all.csv", pooled(some_tables(rows=60)))

    assert simulated_settings(PLAN, 0, run, 1).records(PLAN).rows == before.rows == 150
    assert simulated_settings(PLAN, 0, run, 2).records(PLAN).rows == 60


WRONG = {
    "no table": ({}, 0, "no simulated-data"),
    "an empty name": ({"simulated-data": ""}, 0, "no simulated-data"),
    "a position too many": ({"simulated-data": "all.csv"}, 4, "has 4 silos"),
    "a position below zero": ({"simulated-data": "all.csv"}, -1, "has 4 silos"),
}


@pytest.mark.parametrize(("run", "place", "said"), WRONG.values(), ids=WRONG.keys())
def test_what_cannot_be_simulated_is_refused(run, place, said):
    with pytest.raises(fp.errors.SettingsError, match=said):
        simulated_settings(PLAN, place, run, 1)


@pytest.mark.parametrize("value", [None, "", "0", "true"])
def test_nothing_is_simulated_where_no_simulation_was_started(value, monkeypatch, tmp_path):
    """Else an auditor could name the data of any node that has a position and no settings."""
    monkeypatch.delenv(ALLOWED)
    if value is not None:
        monkeypatch.setenv(ALLOWED, value)

    with pytest.raises(fp.errors.MissingSiloError, match="not configured"):
        simulated(tmp_path)


def test_a_silo_without_rows_is_refused(tmp_path):
    rest = {silo: table for silo, table in TABLES.items() if silo != "dune"}
    run = {"simulated-data": str(write_csv(tmp_path / "rest.csv", pooled(rest)))}

    with pytest.raises(fp.errors.SettingsError, match="no rows of 'dune'"):
        simulated_settings(PLAN, 3, run, 1)


REAL = {
    "nothing": {},
    "only a position": {"partition-id": 0},
    "a position as text": {"partition-id": "0", "num-partitions": 4},
    "a name beside a position": {"silo": "aurora", "partition-id": 0, "num-partitions": 4},
    "data beside a position": {"data": "a.csv", "partition-id": 0, "num-partitions": 4},
    "all but data": {"silo": "aurora", "plan": PLAN.digest},
}


@pytest.mark.parametrize("own", REAL.values(), ids=REAL.keys())
def test_a_node_that_is_not_of_a_simulation_never_reads_what_the_auditor_names(own, tmp_path):
    nodes = [own, *({"partition-id": n, "num-partitions": 4} for n in (1, 2, 3))]

    found = json.loads(simulated(tmp_path, nodes=nodes, quorum=3))

    assert found["silos_missing"] == ["aurora"]
    asked = json.loads((tmp_path / "out" / "exchange.json").read_text())["asked"]
    assert [each["outcome"] for each in asked if each["node"] == "10"] == ["not configured"]


def test_a_node_with_settings_reads_its_own_data_beside_a_position(tmp_path):
    """Settings win over what a simulation would say, in all they name."""
    other = some_tables(seed=5)["aurora"]
    own = {
        "silo": "aurora",
        "plan": PLAN.digest,
        "data": str(write_csv(tmp_path / "own.csv", other)),
        "ledger": str(tmp_path / "ledger"),
        "partition-id": 1,
        "num-partitions": 4,
    }
    nodes = [own, *({"partition-id": n, "num-partitions": 4} for n in (1, 2, 3))]

    assert simulated(tmp_path, nodes=nodes) == in_process(PLAN, TABLES | {"aurora": other})


def test_signatures_cannot_be_simulated(tmp_path):
    """No silo of a simulation has a key; the error says so rather than giving a number."""
    plan = some_plan(keys={silo: public_text(generate_key()) for silo in SILOS})

    with pytest.raises(fp.errors.MissingSiloError, match="not valid"):
        simulated(tmp_path, plan)
