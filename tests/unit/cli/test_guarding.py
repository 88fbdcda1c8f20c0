"""However a command ends, it says why, how to go on, and never what the data are."""

import click
import pytest
from click.testing import CliRunner

from fedparity.cli.main import cli
from fedparity.cli.plans import plan_commands as plan_show
from fedparity.errors import LedgerError

SCORE = "0.123456789"


@pytest.fixture
def ended(monkeypatch):
    """Run a command inside which something happens."""

    def run(error, *options, env=None):
        def fail(*_):
            raise error

        monkeypatch.setattr(plan_show.Plan, "read", fail)
        arguments = [*options, "plan", "show", "p.toml"]
        return CliRunner().invoke(cli, arguments, prog_name="fedparity", env=env or {})

    return run


def test_an_error_on_purpose_prints_its_sentence_and_its_fix(ended):
    result = ended(LedgerError("the ledger says no.", fix="ask it."))

    assert result.exit_code == 4
    assert result.stderr == "error: the ledger says no.\nfix: ask it.\n"
    assert result.stdout == ""


def test_an_unexpected_error_says_where_and_not_what(ended):
    result = ended(ValueError(f"could not convert {SCORE}"))

    assert result.exit_code == 1
    assert "unexpected ValueError in plan_commands.py" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("fix: ")
    assert SCORE not in result.stderr


@pytest.mark.parametrize(
    ("options", "env"), [(["--traceback"], {}), ([], {"FEDPARITY_TRACEBACK": "1"})]
)
def test_a_traceback_is_shown_where_it_is_asked_for(ended, options, env):
    result = ended(ValueError(SCORE), *options, env=env)

    assert result.exit_code == 1
    assert "Traceback (most recent call last)" in result.stderr
    assert SCORE in result.stderr


@pytest.mark.parametrize("value", ["", "0"])
def test_an_empty_variable_asks_for_nothing(ended, value):
    assert SCORE not in ended(ValueError(SCORE), env={"FEDPARITY_TRACEBACK": value}).stderr


def test_ctrl_c_ends_with_130(ended):
    result = ended(KeyboardInterrupt())

    assert result.exit_code == 130
    assert "error: interrupted" in result.stderr


def test_a_closed_pipe_ends_quietly(ended, monkeypatch):
    monkeypatch.setattr("fedparity.cli.main._discard_output", lambda: None)

    result = ended(BrokenPipeError(32, "Broken pipe"))

    assert (result.exit_code, result.stderr) == (141, "")


def test_the_system_may_refuse_something_too(ended):
    result = ended(PermissionError(13, "Permission denied", "results"))

    assert result.exit_code == 2
    assert "permission denied (results)" in result.stderr
    assert "fix: " in result.stderr


def test_a_usage_error_shows_the_usage_and_where_to_read_on():
    result = CliRunner().invoke(cli, ["plan", "show"], prog_name="fedparity")

    assert result.exit_code == 2
    assert result.stderr == (
        "Usage: fedparity plan show [OPTIONS] FILE\n"
        "error: missing argument 'FILE'.\n"
        "fix: see fedparity plan show --help.\n"
    )


def test_without_standalone_mode_errors_come_as_they_are():
    with pytest.raises(click.UsageError):
        cli.main(["plan", "show"], standalone_mode=False)
