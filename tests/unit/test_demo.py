"""The demonstration tells the truth, in 80 columns."""

import json

from click.testing import CliRunner

from fedparity.cli.main import cli


def run(*arguments):
    return CliRunner().invoke(cli, ["demo", *arguments])


def test_every_hospital_looks_fair_and_the_whole_does_not():
    answer = json.loads(run("--json").stdout)
    alone = [silo["disparity"] for silo in answer["silos"]]

    assert max(alone) < 0.02 * answer["disparity"]
    assert answer["attribution"]["selection"] > 0.9 * answer["disparity"]


def test_the_sketches_recover_what_pooling_would_give():
    answer = json.loads(run("--json", "--levels", "200").stdout)

    assert abs(answer["disparity"] / answer["pooled_disparity"] - 1) < 0.01


def test_the_printed_answer_fits_80_columns_without_colours_off_a_terminal():
    printed = run()

    assert printed.exit_code == 0
    assert all(len(line) <= 80 for line in printed.stdout.splitlines())
    assert "\x1b" not in printed.stdout


def test_the_same_seed_prints_the_same():
    assert run("--seed", "3").stdout == run("--seed", "3").stdout
    assert run("--seed", "3").stdout != run("--seed", "4").stdout


def test_a_wrong_option_is_a_usage_error():
    assert run("--levels", "0").exit_code == 2
