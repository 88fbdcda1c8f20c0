"""What leaves a silo when something goes wrong: one of nine words, and never a text."""

import pytest
from tests.engine_harness import some_plan

import fedparity as fp
from fedparity import errors
from fedparity.engines.remote.requests import Refusal, Request, guarded, refusal_of, told_on_stderr

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
    "an error on purpose": fp.errors.TableError(f"{MARK}.", fix=MARK),
    "an error of a library": RuntimeError(MARK),
    "no memory": MemoryError(MARK),
    "an exit": SystemExit(MARK),
    "a panic": Panic(MARK),
    "deep recursion": RecursionError(MARK),
}


def raiser(error):
    def work(_):
        raise error

    return work


def plain():
    return Request(step="sketch", plan=some_plan())


def private(mode):
    epsilon = {"epsilon": 1.0} if "dp" in mode else {}
    return Request(step="sketch", plan=some_plan(privacy={"mode": mode, "bins": 8, **epsilon}))


@pytest.mark.parametrize("mode", ["dp", "secure", "secure+dp"])
def test_under_a_privacy_mode_there_is_one_word_for_everything(mode):
    """Which word it is would be an exact number of the data, and free of any budget."""
    asked = private(mode)
    raised = [*RAISED.values(), *(getattr(errors, name)("x.", fix="y") for name in errors.__all__)]
    told = []

    said = {guarded("aurora", lambda: asked, raiser(error), told.append) for error in raised}

    assert {reply.refused for reply in said} == {Refusal.NO_ANSWER}
    assert len(said) == 1
    assert len(told) == len(raised)  # the operator knows


@pytest.mark.parametrize("error", RAISED.values(), ids=RAISED.keys())
def test_the_text_of_an_error_is_not_in_the_reply(error):
    reply = guarded("aurora", plain, raiser(error), tell=lambda _: None)

    assert MARK not in repr(reply)
    assert reply.message is None
    assert reply.refused in Refusal
    assert reply.silo == "aurora"


@pytest.mark.parametrize("error", RAISED.values(), ids=RAISED.keys())
def test_nothing_is_printed_where_an_engine_may_forward_it(error, capsys):
    guarded("aurora", plain, raiser(error))

    printed = capsys.readouterr()
    assert not printed.out
    assert "aurora did not answer" in printed.err
    assert printed.err.count("fix: ") == 1


def test_the_operator_is_told_an_error_on_purpose_in_full_and_of_others_the_place_alone():
    told = []

    guarded(
        "aurora",
        plain,
        raiser(fp.errors.TableError("no column 'z'.", fix="name another.")),
        told.append,
    )
    guarded("aurora", plain, raiser(ZeroDivisionError(MARK)), told.append)

    assert told[0].endswith("error: no column 'z'.\nfix: name another.")
    assert "an unexpected ZeroDivisionError in test_remote_refusing.py, line" in told[1]
    assert MARK not in told[1]


def test_a_log_that_cannot_be_written_is_no_answer():
    """Its error would leave in place of the word."""

    def tell(_):
        raise OSError(MARK)

    for error in RAISED.values():
        assert guarded("aurora", plain, raiser(error), tell).refused is not None


def test_an_operator_can_stop_the_process():
    with pytest.raises(KeyboardInterrupt):
        guarded("aurora", plain, raiser(KeyboardInterrupt()), lambda _: None)


def test_what_the_work_returns_is_the_reply():
    reply = guarded("aurora", plain, lambda _: b"{}")

    assert (reply.silo, reply.message, reply.refused) == ("aurora", b"{}", None)


def test_a_silo_without_a_name_is_told_of_all_the_same(capsys):
    assert guarded("", plain, raiser(fp.errors.SettingsError.missing("silo", "x"))).silo == ""
    told_on_stderr("a line")

    printed = capsys.readouterr().err
    assert "this silo did not answer" in printed
    assert printed.endswith("fedparity: a line\n")
