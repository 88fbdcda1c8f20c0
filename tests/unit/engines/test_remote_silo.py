"""A silo answers a plan once; asked again it sends the same bytes, or nothing."""

import json

import pytest
from tests.engine_harness import (
    COLUMNS,
    public_keys,
    settings_in,
    some_plan,
    some_tables,
    write_csv,
    write_keys,
)

import fedparity as fp
from fedparity.documents.message import SiloSketch
from fedparity.engines.remote.remote_silo import answer
from fedparity.engines.remote.requests import Request
from fedparity.modes.secure.round_checks import Inbox, decode_round
from fedparity.modes.secure.round_progress import request_for
from fedparity.modes.secure.silo_state import StateFile
from fedparity.privacy.ledger import Entry, Ledger, now
from fedparity.silo.permit import Permit

pytest.importorskip("cryptography", reason="fedparity[sign] is not installed")

pytestmark = pytest.mark.usefixtures("lenient_law")

TRIO = ("aurora", "bayside", "cedar")
PLAIN = some_plan()
DP = some_plan(privacy={"mode": "dp", "epsilon": 1.0, "bins": 8})
SECURE = some_plan(TRIO, privacy={"mode": "secure", "bins": 8})
SKETCH = {"plain": PLAIN, "dp": DP}


@pytest.fixture(params=SKETCH.values(), ids=SKETCH.keys())
def plan(request):
    if request.param is DP:
        pytest.importorskip("opendp", reason="fedparity[dp] is not installed")
    return request.param


def sketch_of(plan):
    return Request(step="sketch", plan=plan)


def entries(folder):
    made = Ledger(folder / "aurora.ledger").entries()
    return tuple(entry for entry in made if entry.entry == "release")


def test_the_answer_is_the_message_that_sketch_makes(tmp_path):
    data = answer(sketch_of(PLAIN), settings_in(tmp_path, PLAIN))

    expected = fp.sketch(
        some_tables()["aurora"], plan=PLAIN, silo="aurora", **COLUMNS, ledger=False
    )
    assert data == expected.to_bytes()


def test_the_answer_is_kept_and_in_the_ledger_before_it_leaves(plan, tmp_path):
    data = answer(sketch_of(plan), settings_in(tmp_path, plan))

    (kept,) = (tmp_path / "aurora-left").iterdir()
    assert kept.read_bytes().rstrip(b"\n") == data.rstrip(b"\n")
    (entry,) = entries(tmp_path)
    assert (entry.plan, entry.silo) == (plan.digest, "aurora")


def test_a_second_query_is_refused_before_data_are_read(plan, tmp_path):
    settings = settings_in(tmp_path, plan)
    answer(sketch_of(plan), settings)
    (tmp_path / "aurora.csv").unlink()

    with pytest.raises(fp.errors.AnsweredError, match="answered this plan before"):
        answer(sketch_of(plan), settings)
    assert len(entries(tmp_path)) == 1


def test_another_file_of_the_same_plan_is_the_same_plan(tmp_path):
    (tmp_path / "copy.toml").write_text("# read again\n" + PLAIN.to_toml())
    answer(sketch_of(PLAIN), settings_in(tmp_path, PLAIN))

    with pytest.raises(fp.errors.AnsweredError):
        answer(sketch_of(PLAIN), settings_in(tmp_path, PLAIN, plan=str(tmp_path / "copy.toml")))


def test_without_the_file_of_what_left_the_ledger_refuses(plan, tmp_path):
    settings = settings_in(tmp_path, plan)
    answer(sketch_of(plan), settings)
    for kept in (tmp_path / "aurora-left").iterdir():
        kept.unlink()
    (tmp_path / "aurora.csv").unlink()

    with pytest.raises(fp.errors.AnsweredError):
        answer(sketch_of(plan), settings)


def test_again_sends_the_same_bytes_and_spends_nothing(plan, tmp_path):
    first = answer(sketch_of(plan), settings_in(tmp_path, plan))
    before = entries(tmp_path)
    (tmp_path / "aurora.csv").unlink()

    for _ in range(2):
        assert answer(sketch_of(plan), settings_in(tmp_path, plan, again=True)) == first
    assert entries(tmp_path) == before


def test_again_before_anything_left_is_a_first_answer(plan, tmp_path):
    first = answer(sketch_of(plan), settings_in(tmp_path, plan, again=True))

    assert answer(sketch_of(plan), settings_in(tmp_path, plan, again=True)) == first
    assert len(entries(tmp_path)) == 1


def test_again_never_sends_what_was_changed_on_disk(tmp_path):
    other = some_plan(levels=4)
    answer(sketch_of(PLAIN), settings_in(tmp_path, PLAIN))
    (kept,) = (tmp_path / "aurora-left").iterdir()
    for document in (
        fp.sketch(some_tables()["aurora"], plan=other, silo="aurora", **COLUMNS, ledger=False),
        fp.sketch(some_tables()["aurora"], plan=PLAIN, silo="bayside", **COLUMNS, ledger=False),
    ):
        kept.write_bytes(document.to_bytes())
        with pytest.raises(fp.errors.MessageError):
            answer(sketch_of(PLAIN), settings_in(tmp_path, PLAIN, again=True))


def crash(*_, **__):
    raise OSError("the machine stopped")


def crashed_answer(monkeypatch, folder, plan):
    """Answer, and crash once the ledger knows of it and before the file is there."""
    with monkeypatch.context() as patch:
        patch.setattr("fedparity.documents.files._put", crash)
        with pytest.raises(fp.errors.OutputError, match="stopped"):
            answer(sketch_of(plan), settings_in(folder, plan))


def test_after_a_crash_between_ledger_and_file_the_same_answer_is_finished(
    plan, monkeypatch, tmp_path
):
    """Nothing had left, and nothing is drawn or spent a second time; not even the data are read."""
    crashed_answer(monkeypatch, tmp_path, plan)
    before = entries(tmp_path)
    (tmp_path / "aurora.csv").unlink()

    data = answer(sketch_of(plan), settings_in(tmp_path, plan))

    assert before == entries(tmp_path)
    assert SiloSketch.from_bytes(data).digest == before[0].message
    left = [kept.name for kept in (tmp_path / "aurora-left").iterdir()]
    assert any(name.endswith(".sketch.json") for name in left)
    assert not any(name.startswith(".") for name in left)


def test_after_such_a_crash_other_data_are_refused(monkeypatch, tmp_path):
    crashed_answer(monkeypatch, tmp_path, PLAIN)
    for left in (tmp_path / "aurora-left").iterdir():
        left.unlink()
    write_csv(tmp_path / "aurora.csv", some_tables(seed=1)["aurora"])

    with pytest.raises(fp.errors.LedgerError):
        answer(sketch_of(PLAIN), settings_in(tmp_path, PLAIN, again=True))
    assert not list((tmp_path / "aurora-left").iterdir())


def test_noise_that_is_lost_is_not_drawn_a_second_time(monkeypatch, tmp_path):
    """A second draw would cost epsilon again."""
    pytest.importorskip("opendp", reason="fedparity[dp] is not installed")
    crashed_answer(monkeypatch, tmp_path, DP)
    for left in (tmp_path / "aurora-left").iterdir():
        left.unlink()

    with pytest.raises(fp.errors.LedgerError, match="another release"):
        answer(sketch_of(DP), settings_in(tmp_path, DP, again=True))
    assert [entry.epsilon for entry in entries(tmp_path)] == [DP.privacy.epsilon]


def test_a_voided_answer_is_made_anew_and_says_what_it_replaces(tmp_path):
    first = SiloSketch.from_bytes(answer(sketch_of(PLAIN), settings_in(tmp_path, PLAIN)))
    (entry,) = entries(tmp_path)
    Ledger(tmp_path / "aurora.ledger").add(
        Entry(entry="void", time=now(), release=entry.release, because="last month's table")
    )
    write_csv(tmp_path / "aurora.csv", some_tables(seed=1)["aurora"])

    second = SiloSketch.from_bytes(answer(sketch_of(PLAIN), settings_in(tmp_path, PLAIN)))

    assert second.replaces == first.digest
    assert [entry.message for entry in entries(tmp_path)] == [first.digest, second.digest]


def test_a_spent_budget_is_refused_before_data_are_read(tmp_path):
    pytest.importorskip("opendp", reason="fedparity[dp] is not installed")
    answer(sketch_of(DP), settings_in(tmp_path, DP))
    other = some_plan(levels=4, privacy={"mode": "dp", "epsilon": 1.0, "bins": 8})
    (tmp_path / "aurora.csv").unlink()

    with pytest.raises(fp.errors.LedgerError, match="left before"):
        answer(sketch_of(other), settings_in(tmp_path, other))
    reason = {"again-because": "a second question"}
    with pytest.raises(fp.errors.BudgetError):
        answer(sketch_of(other), settings_in(tmp_path, other, **reason))


def test_the_dataset_of_the_settings_is_the_one_that_is_spent(tmp_path, lenient_law):
    pytest.importorskip("opendp", reason="fedparity[dp] is not installed")
    with lenient_law.open("a") as file:
        file.write('[datasets]\nvisits = ["elsewhere.csv"]\n')

    answer(sketch_of(DP), settings_in(tmp_path, DP, dataset="visits"))

    assert [entry.dataset for entry in entries(tmp_path)] == ["visits"]


def test_a_wrong_key_is_found_before_anything_leaves(tmp_path):
    keys = write_keys(tmp_path)
    plan = some_plan(keys=public_keys(keys))
    settings = settings_in(tmp_path, plan, sign=str(tmp_path / "bayside.key"))

    with pytest.raises(fp.errors.SignatureError):
        answer(sketch_of(plan), settings)
    assert not entries(tmp_path)
    assert not list((tmp_path / "aurora-left").iterdir())


def test_weights_are_refused_under_noise(tmp_path):
    pytest.importorskip("opendp", reason="fedparity[dp] is not installed")

    data = write_csv(tmp_path / "w.csv", some_tables()["aurora"] | {"w": [1.5] * 150})

    with pytest.raises(fp.errors.PrivacyError, match="weight"):
        answer(sketch_of(DP), settings_in(tmp_path, DP, data=str(data), weight="w"))
    assert not entries(tmp_path)


class Sum:
    """A secure sum of three silos, each asked step by step."""

    def __init__(self, folder, plan=SECURE, /, **changes):
        self.plan, self.folder, self.changes = plan, folder, changes
        self.sent = {}

    def ask(self, step, *before, silo="aurora", **changes):
        """What one silo answers, given what all sent before."""
        messages = tuple(data for name in before for data in self.sent[name].values())
        request = Request(step=step, plan=self.plan, messages=messages)
        settings = settings_in(self.folder, self.plan, silo=silo, **(self.changes | changes))
        return answer(request, settings)

    def all(self, step, *before):
        """Let every silo make a step."""
        self.sent[step] = {silo: self.ask(step, *before, silo=silo) for silo in self.plan.silos}
        return self.sent[step]

    def through(self, last):
        """Make all steps up to one."""
        self.all("keys")
        if last != "keys":
            self.all("shares", "keys")
        if last in {"mask", "unmask"}:
            self.all("mask", "keys", "shares")
        if last == "unmask":
            came = [decode_round(d) for each in self.sent.values() for d in each.values()]
            request = request_for(self.plan, Inbox(tuple(came)))
            self.sent["request"] = {"auditor": request.to_bytes()}
            self.all("unmask", "request")
        return self


BEFORE = {"keys": (), "shares": ("keys",), "mask": ("keys", "shares"), "unmask": ("request",)}


@pytest.mark.parametrize("step", BEFORE)
def test_a_step_of_a_secure_sum_is_made_once(step, tmp_path):
    sums = Sum(tmp_path).through(step)

    with pytest.raises(fp.errors.AnsweredError):
        sums.ask(step, *BEFORE[step])


@pytest.mark.parametrize("step", BEFORE)
def test_again_sends_the_same_message_of_a_step(step, tmp_path):
    sums = Sum(tmp_path).through(step)
    before = [entry.release for entry in entries(tmp_path)]

    assert sums.ask(step, *BEFORE[step], again=True) == sums.sent[step]["aurora"]
    assert [entry.release for entry in entries(tmp_path)] == before


@pytest.mark.parametrize("step", ["shares", "mask", "consent", "unmask"])
def test_a_step_that_comes_too_early_is_refused(step, tmp_path):
    with pytest.raises(fp.errors.RoundStateError):
        Sum(tmp_path).ask(step)


def test_a_masked_vector_is_in_the_ledger_and_a_second_sum_of_the_data_refused(tmp_path):
    Sum(tmp_path).through("mask")
    other = some_plan(TRIO, levels=4, privacy={"mode": "secure", "bins": 8})

    assert other.digest != SECURE.digest
    assert SECURE.digest in {entry.plan for entry in entries(tmp_path)}
    with pytest.raises(fp.errors.LedgerError, match="left before"):
        Sum(tmp_path, other).through("mask")


def test_after_a_crash_between_state_and_ledger_the_same_vector_can_be_sent(monkeypatch, tmp_path):
    sums = Sum(tmp_path).through("shares")
    with monkeypatch.context() as patch:
        patch.setattr(Permit, "record", crash)
        with pytest.raises(OSError, match="stopped"):
            sums.ask("mask", "keys", "shares")
    assert not entries(tmp_path)
    with pytest.raises(fp.errors.AnsweredError):
        sums.ask("mask", "keys", "shares")

    sent = sums.ask("mask", "keys", "shares", again=True)

    assert sums.ask("mask", "keys", "shares", again=True) == sent
    assert SECURE.digest in {entry.plan for entry in entries(tmp_path)}


def test_what_the_ledger_refuses_does_not_leave_in_a_secure_sum(monkeypatch, tmp_path):
    """Another process has sent something under the plan since the ledger was first asked."""
    sums = Sum(tmp_path).through("shares")
    monkeypatch.setattr(Permit, "check", lambda _: None)
    other = settings_in(tmp_path, SECURE).permit(SECURE)
    with other.commit("sha256:ff", "sha256:ff"):
        pass

    for again in (False, True):
        with pytest.raises(fp.errors.LedgerError):
            sums.ask("mask", "keys", "shares", again=again)


def test_a_second_sum_is_refused_before_data_are_read(tmp_path):
    other = some_plan(TRIO, levels=4, privacy={"mode": "secure", "bins": 8})
    Sum(tmp_path).through("mask")
    sums = Sum(tmp_path, other).through("shares")
    (tmp_path / "aurora.csv").unlink()

    with pytest.raises(fp.errors.LedgerError, match="left before"):
        sums.ask("mask", "keys", "shares")


def test_the_state_of_a_silo_of_a_like_name_is_never_sent(tmp_path):
    """Names that differ only in what a file's name cannot hold share a file."""
    plan = some_plan(("a b", "a-b", "c"), privacy={"mode": "secure", "bins": 8})
    shared = {"folder": str(tmp_path / "left")}
    sums = Sum(tmp_path, plan, **shared)
    sums.ask("keys", silo="a b")

    for again in (False, True):
        with pytest.raises((fp.errors.AnsweredError, fp.errors.RoundStateError)):
            sums.ask("keys", silo="a-b", again=again)
        for step in ("shares", "mask", "consent", "unmask"):
            with pytest.raises(fp.errors.RoundStateError, match="another"):
                sums.ask(step, silo="a-b", again=again)


def test_a_step_without_data_reads_none(tmp_path):
    """Only the masked vector is made of records."""
    sums = Sum(tmp_path, data=str(tmp_path / "none.csv"))

    sums.through("shares")

    with pytest.raises(fp.errors.TableError):
        sums.ask("mask", "keys", "shares")
    assert not entries(tmp_path)


def test_consent_needs_a_key(tmp_path):
    sums = Sum(tmp_path).through("mask")
    sums.sent["request"] = {}

    with pytest.raises(fp.errors.SignatureError):
        sums.ask("consent", "request")


@pytest.mark.parametrize(
    "messages", [(b"",), (b"{}",), (b"\xff" * 9,)], ids=["no", "empty", "odd"]
)
def test_messages_that_are_none_are_refused(messages, tmp_path):
    Sum(tmp_path).through("keys")
    request = Request(step="shares", plan=SECURE, messages=messages)

    with pytest.raises(fp.errors.MessageError):
        answer(request, settings_in(tmp_path, SECURE))


def test_a_step_of_the_other_mode_is_refused(tmp_path):
    with pytest.raises(fp.errors.PrivacyError):
        answer(sketch_of(SECURE), settings_in(tmp_path, SECURE))
    with pytest.raises(fp.errors.SecureMessageError):
        answer(Request(step="keys", plan=PLAIN), settings_in(tmp_path, PLAIN))


def test_the_state_on_disk_says_what_was_sent(tmp_path):
    sums = Sum(tmp_path).through("shares")

    (path,) = (tmp_path / "aurora-left").glob("*.secure-state")
    with StateFile(path).held() as state:
        assert list(state.sent) == ["keys", "shares"]
        assert state.sent["shares"].to_bytes() == sums.sent["shares"]["aurora"]
    assert json.loads(path.read_bytes())["silo"] == "aurora"
