"""Axes and outcomes with noise: what a silo sends, what one record changes, and what the auditor reads."""

import json
from dataclasses import replace

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from tests.outcome_audits import outcome_plan, outcome_tables

import fedparity as fp
from fedparity.cli.sketch_commands import preview_text
from fedparity.documents.json_text import schema
from fedparity.documents.message_cells import HistogramCell
from fedparity.documents.message_checks import check_messages
from fedparity.errors import MessageError
from fedparity.modes.atom_histograms import AtomHistograms
from fedparity.modes.mode import mode_of
from fedparity.modes.noisy import NoisyMode
from fedparity.privacy.ledger import Ledger
from fedparity.privacy.noise import NoiseLaw
from fedparity.report.sentences import explain_privacy
from fedparity.silo.permit import Permit
from fedparity.silo.sketch import preview
from fedparity.tables.opening import label_columns, open_records

pytest.importorskip("opendp", reason="fedparity[dp] is not installed")

DP = {"mode": "dp", "epsilon": 1.0}
SILOS = tuple(outcome_tables())


def noisy_plan(**more):
    return outcome_plan(privacy=DP, **more)


def counts_of(plan, table):
    """The exact counts of a silo's table, before noise."""
    records = open_records(
        table, score="score", group=label_columns(plan), groups=plan.record_labels
    )
    return NoisyMode(plan).count(records)


def released(plan, tables, **more):
    return [
        fp.sketch(table, plan=plan, silo=silo, score="score", ledger=False, **more)
        for silo, table in tables.items()
    ]


@pytest.fixture(scope="module")
def messages():
    return released(noisy_plan(), outcome_tables())


@pytest.fixture(scope="module")
def audited(messages):
    return fp.audit(noisy_plan(), messages, redraws=30)


def test_a_record_is_in_one_histogram_so_that_epsilon_is_spent_once():
    plan = noisy_plan()
    table = outcome_tables()[SILOS[0]]
    fewer = {name: column[1:] for name, column in table.items()}

    change = counts_of(plan, table) - counts_of(plan, fewer)

    assert np.abs(change).sum() == 1


def test_a_record_that_changes_its_outcome_changes_two_counts():
    """It is removed and added: 2 epsilon, as the result says."""
    plan = noisy_plan()
    table = outcome_tables()[SILOS[0]]
    outcomes = table["outcome"].copy()
    outcomes[0] = {"yes": "no", "no": "yes"}[outcomes[0]]

    change = counts_of(plan, table) - counts_of(plan, table | {"outcome": outcomes})

    assert np.abs(change).sum() == 2
    assert "its group or outcome, costs 2 epsilon" in mode_of(plan).guarantee()["limits"]


def test_every_cell_is_sent_whatever_the_table_holds():
    """Nothing is withheld: that would depend on the records, or leave holes in the tables by axis."""
    plan = noisy_plan()
    table = {name: column[:40] for name, column in outcome_tables()[SILOS[0]].items()}

    (message,) = released(plan, {"silo 0": table})

    cells = [*message.cells, *(cell for each in message.tables for cell in each.cells)]
    assert len(cells) == 3 * len(plan.groups)
    assert all(cell.values is not None for cell in cells)
    assert [(each.by, each.outcome) for each in message.tables] == [
        ((), "positive"),
        ((), "negative"),
    ]


def test_a_message_survives_its_bytes_and_answers_its_plan(messages):
    again = [fp.SiloSketch.from_bytes(each.to_bytes()) for each in messages]

    check_messages(noisy_plan(), again)

    assert again == messages


def test_messages_and_the_result_fit_their_schemas(messages, audited):
    for message in messages:
        Draft202012Validator(schema("sketch")).validate(json.loads(message.to_bytes()))
    Draft202012Validator(schema("audit")).validate(json.loads(audited.to_json()))


def test_a_message_that_withholds_a_cell_is_refused(messages):
    cells = [HistogramCell.kept_back(messages[0].cells[0].group), *messages[0].cells[1:]]

    with pytest.raises(MessageError, match="every cell is sent"):
        check_messages(noisy_plan(), [replace(messages[0], cells=cells)])


def test_a_message_with_sketches_in_a_table_of_histograms_is_refused(messages):
    document = json.loads(messages[0].to_bytes())
    document["tables"][0]["cells"][0]["mean_square"] = None

    with pytest.raises(MessageError, match="a list of cells"):
        fp.SiloSketch.from_bytes(json.dumps(document).encode())


def test_bins_meet_at_thresholds_and_at_the_edges_of_calibration():
    plan = noisy_plan(score_step=None, thresholds=(0.41,))

    assert {0.25, 0.41, 0.5, 0.75} <= set(plan.grid.edges.tolist())


def test_a_table_by_axis_is_the_sum_of_its_intersections_with_the_noise_of_all(messages):
    plan = noisy_plan()
    atoms = AtomHistograms.from_messages(plan, messages, NoiseLaw(1.0))
    everybody, by_sex = (atoms.rows(table) for table in plan.tables[:2])

    of_women = [place for place, group in enumerate(plan.groups) if group[0] == "f"]

    assert np.array_equal(by_sex.counts[:, 0], everybody.counts[:, of_women].sum(axis=1))
    assert everybody.noise.doses == 3
    assert by_sex.noise.doses == 9
    assert atoms.rows(plan.tables[1], "positive").noise.doses == 3


def test_the_atoms_of_a_message_are_those_that_were_drawn(messages):
    plan = noisy_plan()
    atoms = AtomHistograms.from_messages(plan, messages, NoiseLaw(1.0))

    for silo, message in enumerate(messages):
        for group, cell in enumerate(message.cells):
            assert np.array_equal(atoms.counts[silo, group].sum(axis=0), cell.values)
        positives = message.tables[0].cells
        assert np.array_equal(atoms.counts[silo, 0, 0], positives[0].values)


def test_numbers_by_outcome_lie_in_their_brackets_and_intervals(audited):
    assert [table.by for table in audited.tables] == [(), ("sex",), ("region",)]
    for table in audited.tables:
        for row in table.outcome.groups:
            for known in (row.auc, row.base_rate, row.brier):
                assert known.interval.lower <= known.lower <= known.value
                assert known.value <= known.upper <= known.interval.upper
        for rates in table.outcome.thresholds[0].rates:
            assert rates.local is not None
            assert all(row.rate is not None for row in rates.groups)
        assert all(each.selection is not None for each in table.outcome.given)
        assert len(table.outcome.calibration[0].bins) == 4


def test_tests_that_take_counts_for_exact_are_not_given(audited):
    tests = audited.tables[0].tests[0]

    assert "Noise was added" in tests.not_given
    assert all(pair.fisher is None and pair.mantel_haenszel is None for pair in tests.groups)
    assert all(pair.z is not None for pair in tests.groups)


def test_a_row_that_noise_could_have_made_is_compared_with_nobody():
    plan = noisy_plan(set_aside=0.0, unknown=())
    tables = {
        silo: {name: column[table["region"] != "n/a"] for name, column in table.items()}
        for silo, table in outcome_tables().items()
    }

    result = fp.audit(plan, released(plan, tables), redraws=20)

    rows = {row.group: row for row in result.tables[2].groups}
    assert rows["n/a"].status == "set aside"
    assert "once noise was added" in rows["n/a"].known
    assert {row.group for row in result.tables[2].groups if row.status == "compared"} == {
        "east",
        "west",
    }


def test_the_ledger_counts_epsilon_once(tmp_path):
    table = outcome_tables()[SILOS[0]]
    ledger = Ledger(tmp_path / "ledger.jsonl")
    fp.sketch(table, plan=noisy_plan(), silo="silo 0", score="score", ledger=ledger)

    (entry,) = [each for each in ledger.entries() if each.entry == "release"]

    assert (entry.epsilon, entry.view["mode"]) == (1.0, "dp")
    assert entry.view["outcome"]["positive"] == "yes"


def test_batches_that_come_once_make_a_message_that_answers_the_plan():
    plan = noisy_plan()
    table = outcome_tables()[SILOS[0]]
    sketcher = fp.Sketcher(plan=plan, silo="silo 0", score="score", ledger=False)
    for part in (slice(0, 1000), slice(1000, None)):
        sketcher.update({name: column[part] for name, column in table.items()})

    message = sketcher.finish()

    check_messages(plan, [message])
    exact = counts_of(plan, table).reshape(len(plan.groups), 3, -1)
    noise = [cell.values for cell in message.cells] - exact.sum(axis=1)
    assert np.abs(noise).mean() < 6 * NoiseLaw(1.0, doses=3).deviation


def test_a_secure_sum_with_noise_gives_the_tables_without_what_needs_silos_apart():
    plan = outcome_plan(silos=SILOS, privacy={"mode": "secure+dp", "epsilon": 1.0})
    tables = outcome_tables()
    pooled = {
        name: np.concatenate([table[name] for table in tables.values()])
        for name in tables[SILOS[0]]
    }
    pooled["silo"] = np.repeat(SILOS, [len(table["score"]) for table in tables.values()])

    result = fp.simulate(pooled, silo="silo", plan=plan, score="score", redraws=20)

    assert "only_sums" in {warning.code for warning in result.warnings}
    for table in result.tables:
        assert table.attribution is None
        assert not table.silos
        assert "Only sums over silos" in table.outcome.not_given
        assert table.outcome.auc_gap.local is None
        assert all(each.selection is None for each in table.outcome.given)
        assert [row.auc.value for row in table.outcome.groups] == pytest.approx(
            [0.78] * len(table.outcome.groups), abs=0.15
        )


def test_a_dry_run_and_the_warnings_say_that_nothing_is_withheld(tmp_path):
    plan = noisy_plan(unknown=(), set_aside=0.0)
    table = outcome_tables()[SILOS[0]]
    permit = Permit.of(plan, "silo 0", data=table, ledger=tmp_path / "ledger.jsonl")

    shown = preview(table, plan=plan, silo="silo 0", score="score")

    words = " ".join(preview_text(shown, permit).split())
    assert "No group is withheld." in words
    assert "all of it costs epsilon once" in words
    few = {name: column[table["region"] != "n/a"] for name, column in table.items()}
    result = fp.audit(plan, released(plan, {"silo 0": few}), redraws=20)
    texts = [each.text for each in result.warnings if each.code == "group_set_aside"]
    assert len(texts) == 2
    assert all("was set aside: fewer than" in text for text in texts)


def test_a_report_names_no_rule_that_was_not_applied(audited):
    words = explain_privacy(audited)

    assert "withheld" not in words
    assert "a noisy histogram of each group and outcome in each silo" in words
