"""The auditor's side: who is asked, who is believed, how long is waited, and what is told and kept."""

import json
import re

import pytest
from tests.engine_harness import SILOS, audit_folder, some_plan, some_tables, write_messages
from tests.remote_exchange import Clock, ScriptedExchange, silo_members

import fedparity as fp
from fedparity.engines.remote import conversation as module
from fedparity.engines.remote.conversation import Folder, Loss, Member, Terms
from fedparity.engines.remote.remote_audit import run_audit
from fedparity.engines.remote.requests import Refusal, Reply

PLAN = some_plan()
REDRAWS = 20


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    """The message of each silo."""
    paths = write_messages(PLAN, some_tables(), tmp_path_factory.mktemp("m") / "files")
    return {silo: path.read_bytes() for silo, path in paths.items()}


def sends(silo, data):
    """A node that sends these bytes as a silo."""
    return lambda _: Reply(silo=silo, message=data)


def refuses(silo, word=Refusal.FAILED):
    """A node that refuses as a silo."""
    return lambda _: Reply(silo=silo, refused=word)


def loses(loss):
    """A node that the network lost."""
    return lambda _: loss


class Run:
    """One run over a scripted network."""

    def __init__(self, folder, script, *, plan=PLAN, **options):
        self.told = []
        self.folder = folder / "out"
        self.plan = plan
        names = ("arriving", "clock", "waits")
        wire = {name: options.pop(name) for name in names if name in options}
        self.exchange = ScriptedExchange(script, **wire)
        self.terms = Terms(**({"wait": 0.0, "limit": 5.0, "redraws": REDRAWS} | options))

    def go(self):
        """Ask, and return the result."""
        folder = Folder(self.folder, self.plan)
        return run_audit(self.plan, self.exchange, self.terms, folder, tell=self.told.append)

    def fails(self, error):
        """Ask, and return the error that comes of it."""
        with pytest.raises(error) as caught:
            self.go()
        assert not (self.folder / "result.json").exists()
        return caught.value.message

    @property
    def record(self):
        """What was kept of the exchange."""
        return json.loads((self.folder / "exchange.json").read_text())


def all_send(messages, *, registered=False):
    """A script in which every silo sends its message."""
    members = silo_members(*SILOS, registered=registered)
    return {m: sends(silo, messages[silo]) for m, silo in zip(members, SILOS, strict=True)}


def test_the_result_is_that_of_the_messages(messages, tmp_path):
    run = Run(tmp_path, all_send(messages))

    found = run.go()

    assert found.to_json() == audit_folder(PLAN, run.folder / "messages")
    assert found.to_json() + "\n" == (run.folder / "result.json").read_text("utf-8")


def test_messages_are_kept_byte_for_byte(messages, tmp_path):
    """As they came, even if another writer would have spaced them differently."""
    spaced = json.dumps(json.loads(messages["cedar"]), indent=3).encode()
    script = all_send(messages)
    script[silo_members(*SILOS)[2]] = sends("cedar", spaced)
    run = Run(tmp_path, script)

    run.go()

    kept = {path.name: path.read_bytes() for path in (run.folder / "messages").iterdir()}
    expected = {f"{silo}.sketch.json": data for silo, data in messages.items()}
    assert kept == expected | {"cedar.sketch.json": spaced}


def test_the_plan_is_kept_beside_the_result(messages, tmp_path):
    run = Run(tmp_path, all_send(messages))

    run.go()

    assert fp.Plan.read(run.folder / "plan.toml").digest == PLAN.digest


def test_the_record_says_who_was_asked_and_what_came(messages, tmp_path):
    script = all_send(messages)
    first, second, *_ = script
    script[second] = loses(Loss.CRASHED)
    run = Run(tmp_path, script, quorum=3)

    run.go()

    record = run.record
    assert (record["schema"], record["plan"]) == ("fedparity/exchange/1", PLAN.digest)
    assert (record["quorum"], record["outcome"]) == (3, "finished")
    asked = [(e["step"], e["node"], e["silo"], e["outcome"]) for e in record["asked"]]
    assert asked[:2] == [
        ("sketch", first.node, "aurora", "answered"),
        ("sketch", second.node, None, "its process failed"),
    ]
    assert len(asked) == 4
    assert all(each["seconds"] >= 0 for each in record["asked"])


def test_the_record_is_written_also_where_the_run_fails(messages, tmp_path):
    script = dict.fromkeys(all_send(messages), loses(Loss.SILENT))
    run = Run(tmp_path, script)

    said = run.fails(fp.errors.MissingSiloError)

    assert run.record["outcome"] == said
    assert [each["outcome"] for each in run.record["asked"]] == ["no answer in time"] * 4


def test_the_record_is_written_also_where_the_engine_fails(messages, tmp_path):
    def breaks(_):
        raise ConnectionError("gone")

    run = Run(tmp_path, all_send(messages) | {Member("99"): breaks})
    with pytest.raises(ConnectionError):
        run.go()

    assert run.record["outcome"] == "not finished"
    assert len(run.record["asked"]) == 4


@pytest.mark.parametrize("name", ["result.json", "exchange.json", "messages", "plan.toml"])
def test_a_folder_of_an_earlier_run_is_refused_before_anybody_is_asked(name, messages, tmp_path):
    run = Run(tmp_path, all_send(messages))
    run.folder.mkdir()
    (run.folder / name).touch()

    with pytest.raises(fp.errors.OutputError):
        run.go()

    assert not run.exchange.asked
    assert [path.name for path in run.folder.iterdir()] == [name]


def test_a_folder_that_cannot_be_made_is_refused_before_anybody_is_asked(messages, tmp_path):
    (tmp_path / "out").touch()
    run = Run(tmp_path, all_send(messages))

    with pytest.raises(fp.errors.OutputError):
        run.go()

    assert not run.exchange.asked


def test_terms_that_do_not_fit_are_refused_before_anything_is_made(messages, tmp_path):
    run = Run(tmp_path, all_send(messages), quorum=5)

    with pytest.raises(fp.errors.OptionError):
        run.go()

    assert not run.exchange.asked
    assert not run.folder.exists()


ALIKE = ("a-2", "a", ".a", "A", "a/", "x" * 90, "x" * 91)


def test_names_that_are_alike_get_files_of_their_own(tmp_path):
    """On a disk that tells no cases apart, and after what a file's name cannot hold is replaced."""
    folder = Folder(tmp_path / "out", PLAN)
    folder.open()
    for number, silo in enumerate(ALIKE):
        folder.keep_message(silo, "sketch", str(number).encode())
        folder.keep_message(silo, "mask", b"m")

    kept = list((tmp_path / "out" / "messages").iterdir())

    assert len({path.name.lower() for path in kept}) == len(kept) == 2 * len(ALIKE)
    sketches = {path.read_bytes() for path in kept if path.name.endswith(".sketch.json")}
    assert sketches == {str(number).encode() for number in range(len(ALIKE))}


# Quorum


@pytest.mark.parametrize(("lost", "quorum"), [(0, 4), (1, 3), (2, 2), (3, 1)])
def test_as_many_as_the_quorum_suffice(lost, quorum, messages, tmp_path):
    script = all_send(messages)
    for member in list(script)[:lost]:
        script[member] = loses(Loss.SILENT)
    run = Run(tmp_path, script, quorum=quorum)

    found = run.go()

    assert found.silos_missing == SILOS[:lost]
    assert found.silos_received == SILOS[lost:]


@pytest.mark.parametrize(("lost", "quorum"), [(1, 4), (2, 3), (4, 1)])
def test_one_below_the_quorum_is_an_error_with_all_reasons(lost, quorum, messages, tmp_path):
    script = all_send(messages, registered=True)
    for member in list(script)[:lost]:
        script[member] = loses(Loss.UNREACHABLE)

    said = Run(tmp_path, script, quorum=quorum).fails(fp.errors.MissingSiloError)

    assert f"{4 - lost} of the 4 silos of the plan answered, and the quorum is {quorum}" in said
    for silo in SILOS[:lost]:
        assert f"{silo!r} (could not be reached)" in said
    for silo in SILOS[lost:]:
        assert silo not in said


def test_reasons_of_many_nodes_without_a_name_are_counted_once(tmp_path):
    """Each is one of the silos not heard of: listing both would count everybody twice."""
    silos = tuple(f"s{number}" for number in range(40))
    plan = some_plan(silos)
    script = dict.fromkeys(silo_members(*silos), loses(Loss.SILENT))
    script |= dict.fromkeys(list(script)[:10], loses(Loss.CRASHED))

    said = Run(tmp_path, script, plan=plan).fails(fp.errors.MissingSiloError)

    assert "0 of the 40 silos" in said
    assert "10 × its process failed, 30 × no answer in time" in said
    assert said.endswith("and 33 more.")  # 8 of 41 are shown: all silos, and the nodes together


# Who is asked, and who is believed


def test_strangers_are_not_asked(messages, tmp_path):
    script = all_send(messages, registered=True)
    stranger = Member("77", "zeta")
    run = Run(tmp_path, script | {stranger: sends("aurora", messages["aurora"])})

    run.go()

    assert stranger not in run.exchange.asked
    assert any("does not list them: 'zeta'" in line for line in run.told)


def test_two_nodes_of_one_name_are_refused_before_anybody_is_asked(messages, tmp_path):
    script = all_send(messages, registered=True)
    run = Run(tmp_path, script | {Member("77", "cedar"): sends("cedar", messages["cedar"])})

    assert "two nodes answer as silo 'cedar'" in run.fails(fp.errors.MessageError)
    assert not run.exchange.asked


def test_the_registered_name_wins_over_what_a_message_says(messages, tmp_path):
    """A silo cannot send another's message, even if it answers before the other."""
    script = all_send(messages, registered=True)
    first = next(iter(script))
    script[first] = sends("bayside", messages["bayside"])
    run = Run(tmp_path, script, quorum=3)

    found = run.go()

    assert found.silos_missing == ("aurora",)
    assert any("'bayside' arrived from the node of silo 'aurora'" in line for line in run.told)


def test_two_nodes_that_answer_as_one_silo_are_refused(messages, tmp_path):
    script = all_send(messages)
    run = Run(tmp_path, script | {Member("77"): sends("cedar", messages["cedar"])}, quorum=1)

    assert "two nodes answer as silo 'cedar'" in run.fails(fp.errors.MessageError)


def test_what_a_node_says_of_itself_beside_the_message_does_not_count(messages, tmp_path):
    script = all_send(messages)
    script[next(iter(script))] = sends("cedar", messages["aurora"])

    found = Run(tmp_path, script).go()

    assert found.silos_received == SILOS


def test_a_refusal_in_anothers_name_is_not_put_down_to_it(messages, tmp_path):
    """It has answered; who refuses is a node that nobody knows."""
    script = all_send(messages)
    *_, last = script
    script[last] = refuses("aurora")

    said = Run(tmp_path, script).fails(fp.errors.MissingSiloError)

    assert f"'node {last.node}' (failed)" in said
    assert "'dune' (not heard of)" in said
    assert "aurora" not in said


def test_a_refusal_in_anothers_name_is_forgotten_once_it_answers(messages, tmp_path):
    script = all_send(messages)
    *_, last = script
    script[last] = loses(Loss.SILENT)

    said = Run(tmp_path, {Member("5"): refuses("aurora"), **script}).fails(
        fp.errors.MissingSiloError
    )

    assert "'dune' (not heard of)" in said
    assert "aurora" not in said


@pytest.mark.parametrize("word", Refusal)
def test_every_word_of_a_refusal_is_the_reason(word, messages, tmp_path):
    script = all_send(messages)
    script[next(iter(script))] = refuses("aurora", word)
    run = Run(tmp_path, script)

    assert f"'aurora' ({word.value})" in run.fails(fp.errors.MissingSiloError)
    assert run.record["asked"][0]["outcome"] == word.value


@pytest.mark.parametrize("loss", Loss)
def test_every_loss_is_the_reason(loss, messages, tmp_path):
    script = all_send(messages, registered=True)
    script[next(iter(script))] = loses(loss)

    assert f"'aurora' ({loss.value})" in Run(tmp_path, script).fails(fp.errors.MissingSiloError)


@pytest.mark.parametrize("data", [b"", b"{", b"null", b"\xff\xfe", b"[" * 9999, b'{"silo": "x"}'])
def test_a_message_that_is_none_is_the_reason(data, messages, tmp_path):
    script = all_send(messages, registered=True)
    script[next(iter(script))] = sends("aurora", data)

    said = Run(tmp_path, script).fails(fp.errors.MissingSiloError)

    assert "'aurora' (a message that is not valid)" in said


def test_no_changed_byte_of_a_message_stops_an_audit(messages, tmp_path):
    """Whatever comes is either valid or not; no garbage raises anything else."""
    true, plan = messages["aurora"], PLAN
    for place in range(0, len(true), 7):
        wrong = true[:place] + bytes([true[place] ^ 0x15]) + true[place + 1 :]
        script = all_send(messages, registered=True)
        script[next(iter(script))] = sends("aurora", wrong)
        run = Run(tmp_path / str(place), script, plan=plan, quorum=3)
        with pytest.MonkeyPatch.context() as patch:  # the audit itself is not the question
            patch.setattr("fedparity.engines.remote.remote_audit.audit_messages", _stop)
            with pytest.raises(StopAsyncIteration):
                run.go()


def _stop(*_, **__):
    raise StopAsyncIteration


# Waiting


def test_silos_are_waited_for_until_all_are_there(monkeypatch, messages, tmp_path):
    clock = Clock().rules(monkeypatch, module)
    script = all_send(messages)
    members = list(script)
    run = Run(tmp_path, script, wait=60.0, arriving=[[], members[:2], members[:3], members])

    run.go()

    assert clock.slept == [0.2] * 3
    assert run.exchange.asked == members


def test_silos_are_waited_for_no_longer_than_was_said(monkeypatch, messages, tmp_path):
    clock = Clock().rules(monkeypatch, module)
    script = all_send(messages)
    run = Run(tmp_path, script, wait=3.0, quorum=3, arriving=[list(script)[:3]])

    found = run.go()

    assert 3.0 <= sum(clock.slept) <= 3.3
    assert found.silos_missing == ("dune",)


def test_without_a_wait_nobody_waits(monkeypatch, messages, tmp_path):
    clock = Clock().rules(monkeypatch, module)
    script = all_send(messages)
    run = Run(tmp_path, script, wait=0.0, quorum=3, arriving=[list(script)[:3]])

    run.go()

    assert not clock.slept


def test_too_few_nodes_are_refused_before_anybody_is_asked(messages, tmp_path):
    script = all_send(messages, registered=True)
    run = Run(tmp_path, script, arriving=[list(script)[:3]])

    said = run.fails(fp.errors.MissingSiloError)

    assert "3 of the 4 silos of the plan are connected, and 4 are needed" in said
    assert "Not heard of: 'dune'" in said
    assert not run.exchange.asked


def test_a_secure_sum_does_not_begin_without_all(messages, tmp_path):
    """Keys and shares must come from every silo, whatever the quorum of vectors is."""
    plan = some_plan(privacy={"mode": "secure", "bins": 8})
    script = all_send(messages)
    run = Run(tmp_path, script, plan=plan, quorum=3, arriving=[list(script)[:3]])

    assert "4 are needed" in run.fails(fp.errors.MissingSiloError)
    assert not run.exchange.asked


def test_the_time_limit_is_that_of_the_terms(messages, tmp_path):
    run = Run(tmp_path, all_send(messages), limit=7.5)

    run.go()

    assert run.exchange.limits == [7.5]


# Progress


def progress(told):
    """The lines that say how many answered."""
    return [line for line in told if re.match(r"\w+: \d+ of \d+ silos answered", line)]


def test_of_few_silos_each_answer_is_told(messages, tmp_path):
    script = all_send(messages, registered=True)
    script[list(script)[2]] = loses(Loss.SILENT)
    run = Run(tmp_path, script, quorum=3)

    run.go()

    assert run.told[0] == "4 nodes are connected; the plan has 4 silos."
    assert [re.sub(r", \d s left", "", line) for line in progress(run.told)] == [
        "sketch: 1 of 4 silos answered; waiting for bayside, cedar, dune.",
        "sketch: 2 of 4 silos answered; waiting for cedar, dune.",
        "sketch: 2 of 4 silos answered, 1 did not; waiting for dune.",
        "sketch: 3 of 4 silos answered, 1 did not.",
    ]
    assert run.told[-1].startswith("3 silos are in the result: ")


MANY = tuple(f"s{number:02}" for number in range(40))


def many(messages):
    """A plan of many silos, and a script in which all answer."""
    plan = some_plan(MANY)
    document = json.loads(messages["aurora"]) | {"plan": plan.digest}
    script = {
        member: sends(silo, json.dumps(document | {"silo": silo}).encode())
        for member, silo in zip(silo_members(*MANY), MANY, strict=True)
    }
    return plan, script


def test_of_many_silos_the_last_answer_is_told(monkeypatch, messages, tmp_path):
    Clock().rules(monkeypatch, module)
    plan, script = many(messages)
    run = Run(tmp_path, script, plan=plan)

    run.go()

    assert progress(run.told) == ["sketch: 40 of 40 silos answered."]


def test_of_many_silos_one_answer_a_second_is_told(monkeypatch, messages, tmp_path):
    clock = Clock().rules(monkeypatch, module)
    plan, script = many(messages)
    run = Run(tmp_path, script, plan=plan, clock=clock, waits=[0.25] * 40, limit=60.0)

    run.go()

    assert len(progress(run.told)) == 10
    assert "waiting for node 14, node 15, node 16 and 33 more, 59 s left" in progress(run.told)[0]


def test_a_long_silence_is_told_every_quarter_of_a_minute(monkeypatch, messages, tmp_path):
    clock = Clock().rules(monkeypatch, module)
    plan, script = many(messages)
    run = Run(tmp_path, script, plan=plan, clock=clock, waits=[14.0, 16.0], limit=60.0)

    run.go()

    times = [line.partition(" s left")[0].rpartition(", ")[2] for line in progress(run.told)]
    assert times[:2] == ["46", "30"]  # the first answer; then silence, and no answer yet
    assert progress(run.told)[1].startswith("sketch: 1 of 40")
