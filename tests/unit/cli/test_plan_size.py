"""``fedparity plan size`` answers in plain words, in 80 columns."""

import json

import pytest
from click.testing import CliRunner

from fedparity import plan_size
from fedparity.cli.main import cli
from fedparity.cli.plans.planning_commands import plain
from fedparity.planning import detectable_disparity

QUICK = ("--replicates", "40")
STATED = {"kind": "mean", "estimator": "exact", "replicates": 40}


def run(*arguments):
    return CliRunner().invoke(cli, ["plan", "size", *arguments, *QUICK])


def test_an_error_gives_levels_and_records_simulated_and_by_bounds():
    printed = run("--error", "0.3").stdout
    expected = plan_size(error=0.3, **STATED)

    assert f"By simulation: ask for {expected.levels} levels" in printed
    assert f"from {expected.records:,} records per cell." in printed
    assert f"{expected.levels_bound:,} levels from {expected.records_bound:,} records" in printed


def test_records_give_the_detectable_disparity():
    printed = run("--records", "100", "--levels", "10").stdout
    expected = detectable_disparity(records=100, levels=10, **STATED)

    assert "finds, in 80 % of audits" in printed
    assert f"G₂ = {plain(expected.disparity)} (W₂ = " in printed


@pytest.mark.parametrize(
    "arguments",
    [
        ("--error", "0.3"),
        ("--error", "0.3", "--shape", "uniform", "--kind", "quantile", "--estimator", "grid"),
        ("--error", "0.2", "--absolute", "--shape", "deciles", "--disparity", "1"),
        ("--error", "0.3", "--groups", "12", "--silos", "1", "--range", "-1000", "1000"),
        ("--error", "0.01", "--levels", "2", "--share", "9", "--share", "1"),
        ("--error", "0.000001"),
        ("--records", "30", "--levels", "10", "--shape", "normal"),
        ("--records", "2", "--levels", "1", "--silos", "1", "--power", "0.99"),
    ],
    ids=" ".join,
)
def test_the_answer_fits_80_columns_without_colours(arguments):
    printed = run(*arguments)

    assert printed.exit_code == 0, printed.output
    assert max(map(len, printed.stdout.splitlines())) <= 80
    assert "\x1b" not in printed.stdout
    assert printed.stderr == ""


def test_the_curve_falls_from_right_to_left():
    lines = run("--records", "200", "--levels", "10").stdout.splitlines()
    stars = [line.index("*") for line in lines if "*" in line]

    assert len(stars) == 5
    assert stars == sorted(stars, reverse=True)
    assert stars[0] > stars[-1]


def test_json_is_what_python_returns():
    size = json.loads(run("--error", "0.3", "--silos", "3", "--json").stdout)
    power = json.loads(run("--records", "60", "--levels", "5", "--json").stdout)

    assert size == plan_size(error=0.3, silos=3, **STATED).to_dict()
    assert power == detectable_disparity(records=60, levels=5, **STATED).to_dict()


def test_an_absolute_error_is_taken_as_it_is():
    given = ("--error", "0.25", "--absolute", "--shape", "deciles", "--disparity", "0.5")
    answer = json.loads(run(*given, "--json").stdout)

    assert answer["error"] == 0.25
    assert answer["disparity"] == pytest.approx(0.5)


def test_shares_name_the_groups():
    shares = ("--share", "2", "--share", "1", "--share", "1")
    answer = json.loads(run("--records", "50", "--levels", "5", *shares, "--json").stdout)

    assert answer["groups"] == 3
    assert answer["shares"] == [0.5, 0.25, 0.25]


def test_what_cannot_be_found_is_said_in_words():
    records = run("--error", "0.01", "--levels", "2").stdout
    levels = run("--error", "0.000001").stdout
    power = run("--records", "2", "--levels", "1", "--silos", "1", "--power", "0.99").stdout

    assert "more records per cell than were tried" in records
    assert "2 levels, and no number of records is enough." in records
    assert "no number of levels that was tried is enough" in levels
    assert "by simulation: no disparity of this shape" in power
    assert "range: none." in power


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--error", "0.1", "--records", "100"),
        ("--error", "0.1", "--power", "0.9"),
        ("--records", "100", "--absolute"),
        ("--records", "100", "--disparity", "0.01"),
        ("--error", "0"),
        ("--records", "1"),
        ("--error", "0.1", "--silos", "0"),
        ("--error", "0.1", "--shape", "gauss"),
        ("--error", "0.1", "--confidence", "1"),
    ],
    ids=" ".join,
)
def test_options_that_answer_no_question_are_usage_errors(arguments):
    refused = run(*arguments)

    assert refused.exit_code == 2
    assert "error: " in refused.stderr
    assert "fix: " in refused.stderr


def test_numbers_out_of_reach_are_refused_with_a_fix():
    refused = run("--error", "0.1", "--disparity", "0.5")

    assert refused.exit_code == 2
    assert "fix: pass at most" in refused.stderr


def test_help_shows_examples_line_by_line():
    printed = run("--help").stdout

    assert "\n    fedparity plan size --error 0.1 --silos 5\n" in printed
    assert "\n    fedparity plan size --records 500 --silos 5\n" in printed
