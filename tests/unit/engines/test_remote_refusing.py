"""What leaves a silo when something goes wrong: one of eight words, and never a text."""

import pytest

import fedparity as fp
from fedparity import errors
from fedparity.engines.remote.refusing import guarded, refusal_of, told_on_stderr
from fedparity.engines.remote.wording import Refusal

MARK = "SECRET-0.7131"

WORDS = {
    "SettingsError": "not configured",
    "ApprovalError": "plan not approved",
    "AnsweredError": "answered before",
    "LedgerError": "answered before",
    "DisclosureError": "refused by a rule",
    "PrivacyError": "refused by a rule",
    "BudgetError": "refused by a rule",
    "RoundError": "refused by a rule",
    "RuleError": "refused by a rule",
    "MissingExtraError": "package, key or state missing",
    "KeyFileError": "package, key or state missing",
    "SignatureError": "package, key or state missing",
    "DocumentError": "request not valid",
    "PlanError": "request not valid",
    "PolicyError": "package, key or state missing",
    "ResultError": "request not valid",
    "MessageError": "request not valid",
    "SecureMessageError": "request not valid",
    "RoundStateError": "package, key or state missing",
    "OutputError": "package, key or state missing",
}
"""Of any other error: that the data are not usable."""


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_has_its_word(name):
    error = getattr(errors, name)(f"{MARK}.", fix=MARK)

    assert refusal_of(error).value == WORDS.get(name, "data not usable")


class Panic(BaseException):
    """As libraries in other languages raise them: no Exception."""


RAISED = {
    "an error on purpose": fp.TableError(f"{MARK}.", fix=MARK),
    "an error of a library": RuntimeError(MARK),
    "no memory": MemoryError(MARK),
    "an exit": SystemExit(MARK),
    "a panic": Panic(MARK),
    "deep recursion": RecursionError(MARK),
}


def raiser(error):
    def work():
        raise error

    return work


@pytest.mark.parametrize("error", RAISED.values(), ids=RAISED.keys())
def test_the_text_of_an_error_is_not_in_the_reply(error):
    reply = guarded("aurora", raiser(error), tell=lambda _: None)

    assert MARK not in repr(reply)
    assert reply.message is None
    assert reply.refused in Refusal
    assert reply.silo == "aurora"


@pytest.mark.parametrize("error", RAISED.values(), ids=RAISED.keys())
def test_nothing_is_printed_where_an_engine_may_forward_it(error, capsys):
    guarded("aurora", raiser(error))

    printed = capsys.readouterr()
    assert not printed.out
    assert "aurora did not answer" in printed.err
    assert printed.err.count("fix: ") == 1


def test_the_operator_is_told_an_error_on_purpose_in_full_and_of_others_the_place_alone():
    told = []

    guarded("aurora", raiser(fp.TableError("no column 'z'.", fix="name another.")), told.append)
    guarded("aurora", raiser(ZeroDivisionError(MARK)), told.append)

    assert told[0].endswith("error: no column 'z'.\nfix: name another.")
    assert "an unexpected ZeroDivisionError in test_remote_refusing.py, line" in told[1]
    assert MARK not in told[1]


def test_a_log_that_cannot_be_written_is_no_answer():
    """Its error would leave in place of the word."""

    def tell(_):
        raise OSError(MARK)

    for error in RAISED.values():
        assert guarded("aurora", raiser(error), tell).refused is not None


def test_an_operator_can_stop_the_process():
    with pytest.raises(KeyboardInterrupt):
        guarded("aurora", raiser(KeyboardInterrupt()), lambda _: None)


def test_what_the_work_returns_is_the_reply():
    reply = guarded("aurora", lambda: b"{}")

    assert (reply.silo, reply.message, reply.refused) == ("aurora", b"{}", None)


def test_a_silo_without_a_name_is_told_of_all_the_same(capsys):
    assert guarded("", raiser(fp.SettingsError.missing("silo", "x"))).silo == ""
    told_on_stderr("a line")

    printed = capsys.readouterr().err
    assert "this silo did not answer" in printed
    assert printed.endswith("fedparity: a line\n")
