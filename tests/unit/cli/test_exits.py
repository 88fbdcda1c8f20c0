"""Every error ends with the code that the contract gives it."""

import pytest
from tests.unit.cli.samples import run

from fedparity import errors
from fedparity.cli.main import ExitCode, exit_code

EXPECTED = {
    "AnsweredError": ExitCode.REFUSED,
    "ApprovalError": ExitCode.REFUSED,
    "BudgetError": ExitCode.REFUSED,
    "CollectorUnreachableError": ExitCode.NETWORK,
    "DatabaseUnreachableError": ExitCode.NETWORK,
    "NotAllowedError": ExitCode.REFUSED,
    "DisclosureError": ExitCode.REFUSED,
    "LedgerError": ExitCode.REFUSED,
    "MissingExtraError": ExitCode.USAGE,
    "MissingSiloError": ExitCode.SILO_MISSING,
    "OptionError": ExitCode.USAGE,
    "OutputError": ExitCode.USAGE,
    "PrivacyError": ExitCode.REFUSED,
    "RoundError": ExitCode.REFUSED,
    "RuleError": ExitCode.REFUSED,
    "FedparityError": ExitCode.BUG,
}
"""All others are of data, plans and messages."""


@pytest.mark.parametrize("name", errors.__all__)
def test_each_error_has_its_code(name):
    error = getattr(errors, name)("what.", fix="how.")

    assert exit_code(error) is EXPECTED.get(name, ExitCode.BAD_INPUT)


def test_the_numbers_are_a_contract():
    numbers = {code.name: int(code) for code in ExitCode}

    assert numbers == {
        "OK": 0,
        "BUG": 1,
        "USAGE": 2,
        "BAD_INPUT": 3,
        "REFUSED": 4,
        "SILO_MISSING": 5,
        "NETWORK": 6,
        "ABOVE": 10,
        "INTERRUPTED": 130,
        "PIPE_CLOSED": 141,
    }


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("simulat", "data.csv"), "no such command 'simulat'. Did you mean 'simulate'?"),
        (("plan", "chek", "plan.toml"), "no such command 'chek'. Did you mean 'check'?"),
        (("simulate", "data.csv", "--review-level", "high"), "'high' is not a number."),
        (("simulate", "data.csv", "--levels", "1.5"), "'1.5' is not a whole number."),
    ],
)
def test_slips_of_the_keyboard_are_answered_in_plain_words(typed, words):
    ended = run(*typed)

    assert ended.exit_code == ExitCode.USAGE
    assert words in ended.stderr
