"""Five silos in five folders, each with its own data and its own process, and one auditor."""

import csv
import json

import numpy as np
import pytest
from tests.e2e.running import files, finish, run, start
from tests.paper.algorithm_1 import one_shot_audit, sketch

SILOS = ("aurora", "bayside", "cedar", "dunmore", "elm park")
PLAN = ("--title", "Q4", "--group", "A", "--group", "B", "--range", "0", "1")
ROSTER = tuple(word for silo in SILOS for word in ("--silo", silo))
OFF = ("--minimum-cell", "1", "--records-per-level", "0", "--rounding", "0")
PAPER = ("--sketch", "quantile", "--estimator", "grid")


def records(sizes, seed):
    """Rows of (silo, group, risk) in no order; each silo has its own law and mix of groups."""
    random = np.random.default_rng(seed)
    rows = [
        (silo, group, float(random.beta(2 + place + (group == "B"), 5)))
        for place, silo in enumerate(SILOS)
        for group, size in zip("AB", sizes(place), strict=True)
        for _ in range(size)
    ]
    return [rows[i] for i in random.permutation(len(rows))]


def write(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def five_silos(folder, rows, *plan_options, allow_weaker=()):
    """Write a plan, let every silo sketch its own table, and collect what they send."""
    weaker = [word for rule in allow_weaker for word in ("--allow-weaker", rule)]
    auditor = folder / "auditor"
    (auditor / "inbox").mkdir(parents=True)
    assert run("plan", "new", *PLAN, *ROSTER, *plan_options, folder=auditor)[0] == 0
    processes = []
    for silo in SILOS:
        own = folder / silo
        own.mkdir()
        (own / "plan.toml").write_bytes((auditor / "plan.toml").read_bytes())
        write(own / "data.csv", ("group", "risk"), [row[1:] for row in rows if row[0] == silo])
        arguments = ("sketch", "plan.toml", "data.csv", "--silo", silo, "--score", "risk")
        processes.append(start(*arguments, *weaker, "-o", "out.json", folder=own))
    for silo, process in zip(SILOS, processes, strict=True):
        code, out, err = finish(process)
        assert (code, out) == (0, ""), err
        (folder / silo / "out.json").rename(auditor / "inbox" / f"{silo}.json")
    write(folder / "pooled.csv", ("silo", "group", "risk"), rows)
    return auditor


def pooled_result(folder):
    arguments = ("--silo", "silo", "--score", "risk", "--plan", "auditor/plan.toml", "--json")
    return run("simulate", "pooled.csv", *arguments, folder=folder)


@pytest.fixture(scope="module")
def ruled(tmp_path_factory):
    """An audit with its disclosure rules on: cells are coarsened, and one is withheld."""
    folder = tmp_path_factory.mktemp("ruled")
    rows = records(lambda place: (700 - 150 * place, 8 if place == 2 else 90 + 100 * place), 1)
    five_silos(folder, rows, "--review-level", "0.001")
    return folder


def test_the_audit_of_five_silos_is_bit_for_bit_that_of_the_pooled_table(ruled):
    code, out, err = run("audit", "plan.toml", "inbox", "--json", folder=ruled / "auditor")

    assert (code, err) == (0, "")
    assert pooled_result(ruled) == (0, out, "")
    result = json.loads(out)
    assert result["silos_received"] == sorted(SILOS)
    assert result["silos"][2]["withheld"] == {"B": "small"}
    assert result["silos"][4]["levels"] == {"A": 10, "B": 49}


def test_a_silo_keeps_its_data_and_its_ledger_and_sends_one_file(ruled):
    for silo in SILOS:
        assert files(ruled / silo) == [
            ".local/state/fedparity/ledger.jsonl",
            "data.csv",
            "plan.toml",
        ]


@pytest.mark.slow
def test_without_disclosure_rules_the_audit_is_algorithm_1(tmp_path):
    rows = records(lambda place: (9 + 3 * place, 21 - 3 * place), 3)
    weaker = ("minimum_cell", "records_per_level", "rounding")
    options = (*OFF, *PAPER, "--levels", "8")
    auditor = five_silos(tmp_path, rows, *options, allow_weaker=weaker)
    cells = {}
    for silo, group, risk in rows:
        cells.setdefault((silo, group), []).append(risk)
    sketches = {label: sketch(scores, 8) for label, scores in cells.items()}
    expected = one_shot_audit(sketches, 2)

    code, out, err = run("audit", "plan.toml", "inbox", "--json", folder=auditor)

    assert (code, err) == (0, "")
    assert pooled_result(tmp_path) == (0, out, "")
    result = json.loads(out)
    terms = result["decomposition"]
    assert result["disparity"]["value"] == close_to(expected.disparity)
    assert result["heterogeneity"]["value"] == close_to(expected.heterogeneity)
    assert terms["v_mix"] == close_to(expected.v_mix)
    assert terms["v_bar"] == close_to(expected.v_bar)
    assert terms["remainder"] == close_to(expected.remainder)


def close_to(fraction):
    """What floats of numbers below one can hold."""
    return pytest.approx(float(fraction), rel=1e-13, abs=1e-15)
