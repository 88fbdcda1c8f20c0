"""What every engine must pass: the same result to the last bit, and no fault that becomes a number."""

import json
from dataclasses import replace

import pytest
from tests.engine_harness import (
    SILOS,
    FlowerRun,
    altered,
    audit_folder,
    flower_error,
    from_step,
    in_files,
    in_process,
    outcome_tables,
    public_keys,
    raising,
    repeating,
    replying,
    rows_where,
    silent,
    some_plan,
    some_tables,
    write_keys,
    write_messages,
)

import fedparity as fp
from fedparity.documents.signing import generate_key, public_text, sign_plan
from fedparity.modes.secure.round_checks import decode_round
from fedparity.privacy.ledger import Entry, Ledger, now

pytest.importorskip("fedparity.engines.flower.apps", reason="fedparity[flower] is not installed")

TABLES = some_tables()
SMALL = TABLES | {
    "cedar": rows_where(TABLES["cedar"], lambda place, group: group == "B" or place < 9)
}
ONE_GROUP = TABLES | {"dune": rows_where(TABLES["dune"], lambda _, group: group == "B")}

TABLES_ASKED = {
    "groups": None,
    "axes": {"sex": ("f", "m"), "group": ("A", "B")},
    "outcome": {"positive": "yes", "negative": "no", "bins": (0.3, 0.6)},
    "thresholds": (0.5,),
}

PLANS = {
    "quantile on a grid": ({}, TABLES),
    "quantile, exact": ({"estimator": "exact"}, TABLES),
    "mean on a grid": ({"sketch": "mean"}, TABLES),
    "mean, exact, order 1": ({"sketch": "mean", "estimator": "exact", "order": 1}, TABLES),
    "order 1": ({"order": 1, "review_level": 0.01}, TABLES),
    "no rule": (
        {"disclosure": {"minimum_cell": 1, "records_per_level": 1, "rounding": 0}},
        TABLES,
    ),
    "a small cell withheld": ({}, SMALL),
    "a silo without a group": ({}, ONE_GROUP),
    "axes and an outcome": (TABLES_ASKED, outcome_tables()),
    "secure": ({"privacy": {"mode": "secure", "bins": 8}}, TABLES),
    "secure, a silo without a group": ({"privacy": {"mode": "secure", "bins": 8}}, ONE_GROUP),
}


@pytest.mark.parametrize("name", PLANS)
def test_all_engines_give_the_same_result_byte_for_byte(name, tmp_path):
    options, tables = PLANS[name]
    plan = some_plan(**options)

    expected = in_process(plan, tables)

    assert in_files(plan, tables, tmp_path / "files") == expected
    assert FlowerRun(plan=plan, tables=tables, folder=tmp_path / "flower").go() == expected


@pytest.mark.parametrize("mode", ["dp", "secure+dp"])
def test_every_engine_carries_noisy_tables(mode, tmp_path):
    """Noise is drawn anew each time, so that only what does not depend on it is the same."""
    pytest.importorskip("opendp", reason="fedparity[dp] is not installed")
    privacy = {"mode": mode, "epsilon": 3.0, "bins": 8}
    plan, tables = some_plan(**TABLES_ASKED, privacy=privacy), outcome_tables(1500)

    results = [
        in_process(plan, tables),
        in_files(plan, tables, tmp_path / "files"),
        FlowerRun(plan=plan, tables=tables, folder=tmp_path / "flower").go(),
    ]

    for found in map(json.loads, results):
        assert [table["by"] for table in found["tables"]] == [[], ["sex"], ["group"]]
        for table in found["tables"]:
            assert [row["status"] for row in table["groups"]] == ["compared"] * len(
                table["groups"]
            )
            assert (table["outcome"]["auc_gap"]["local"] is None) == (mode == "secure+dp")
    counts = [[row["n"] for row in json.loads(each)["tables"][1]["groups"]] for each in results]
    assert counts[1] == pytest.approx(counts[0], rel=0.05)
    assert counts[2] == pytest.approx(counts[0], rel=0.05)


def test_the_rules_have_something_to_withhold():
    """Or the plan above would show nothing."""
    result = json.loads(in_process(some_plan(), SMALL))

    assert [silo["silo"] for silo in result["silos"] if silo["withheld"]] == ["cedar"]


SIGNED = {"sketches": {}, "a secure sum": {"privacy": {"mode": "secure", "bins": 8}}}


@pytest.mark.parametrize("name", SIGNED)
def test_signed_messages_give_the_same_result_in_files_and_over_flower(name, tmp_path):
    """In one process nothing is signed, and the plan without keys has another digest."""
    folder = tmp_path / "flower"
    folder.mkdir()
    keys = write_keys(folder)
    plan = some_plan(keys=public_keys(keys), **SIGNED[name])

    found = FlowerRun(plan=plan, tables=TABLES, folder=folder, keys=keys).go()

    assert found == in_files(plan, TABLES, tmp_path / "files", keys)
    assert _numbers(found) == _numbers(in_process(plan, TABLES))


@pytest.mark.parametrize("name", SIGNED)
def test_a_strict_policy_of_every_silo_changes_no_number_and_is_obeyed(name, tmp_path):
    """A signed plan, known silos, one data set, an approval: with all of them, and without one."""
    folder = tmp_path / "flower"
    folder.mkdir()
    keys = write_keys(folder)
    auditor = generate_key()
    unsigned = some_plan(keys=public_keys(keys), **SIGNED[name])
    plan = sign_plan(unsigned, auditor)
    known = "".join(f'{silo} = "{key}"\n' for silo, key in plan.keys.items())
    law = tmp_path / "strict.toml"
    law.write_text(
        f'schema = "fedparity/policy/1"\noverrides = false\n[auditors]\na = "{public_text(auditor)}"'
        f'\n[silos]\n{known}[datasets]\nvisits = ["{folder}/*.csv"]\n[approval]\npeople = ["Ada"]\n'
    )
    settings = {silo: {"policy": str(law)} for silo in SILOS}
    run = FlowerRun(plan=plan, tables=TABLES, folder=folder, keys=keys, settings=settings)
    refused = "refused by a rule|no answer"

    with pytest.raises(fp.errors.MissingSiloError, match=refused):  # nobody approved it
        run.go()
    for silo in SILOS:
        ledger = Ledger(folder / f"{silo}.ledger")
        ledger.add(
            Entry(entry="approval", time=now(), plan=plan.digest, by="Ada", because="agreed")
        )
        for left in (folder / f"{silo}-left").glob("*"):  # the state of the round that failed
            left.unlink()
    with pytest.raises(fp.errors.MissingSiloError, match=refused):  # the auditor did not sign
        run.again(plan=unsigned, config={"output": str(tmp_path / "unsigned")}).go()
    found = run.again(config={"output": str(tmp_path / "approved")}).go()

    assert found == in_files(plan, TABLES, tmp_path / "files", keys)
    for silo in SILOS:
        released = [e for e in Ledger(folder / f"{silo}.ledger").entries() if e.entry == "release"]
        assert [(entry.dataset, entry.weaker) for entry in released] == [("visits", ())]


NOISY = {
    "dp": ({"mode": "dp", "epsilon": 2.0, "bins": 8}, False),
    "dp, signed": ({"mode": "dp", "epsilon": 2.0, "bins": 8}, True),
    "secure+dp": ({"mode": "secure+dp", "epsilon": 2.0, "bins": 8}, False),
    "secure+dp, signed": ({"mode": "secure+dp", "epsilon": 2.0, "bins": 8}, True),
}


@pytest.mark.parametrize("name", NOISY)
def test_under_noise_the_result_is_that_of_the_messages_kept(name, tmp_path):
    """Every engine draws its own noise, so results differ; what was sent decides."""
    pytest.importorskip("opendp", reason="fedparity[dp] is not installed")
    privacy, signed = NOISY[name]
    keys = write_keys(tmp_path) if signed else {}
    plan = some_plan(privacy=privacy, keys=public_keys(keys))
    run = FlowerRun(plan=plan, tables=TABLES, folder=tmp_path, keys=keys)

    found = run.go()

    assert found == audit_folder(plan, run.out / "messages")
    assert json.loads(found)["silos_received"] == list(SILOS)


def _numbers(result):
    """A result without what names its plan, and what a signature warrants."""
    document = json.loads(result)
    digest = document["plan"].pop("digest")
    document.pop("warnings")
    document.pop("guarantee")
    return json.loads(json.dumps(document).replace(digest, ""))


# What a silo may do wrong, and what each engine makes of it. A fault that an engine cannot have is
# said to be so, with the reason; the others are tried below.

MISSING = "missing"
"""The silo is named as missing, and the result is that of the others."""
REFUSED = "refused"
"""There is no result, and the error says why."""
HARMLESS = "harmless"
"""The result is that of all silos."""

NO_WIRE = "cannot be: no message travels in one process"
NO_PROCESS = "cannot be: silos have no process of their own"
ONE_TABLE = "cannot be: rows of one name are one silo"
NO_REPLY = "cannot be: a file answers nobody"

FAULTS = {
    "data that cannot be read": (REFUSED, MISSING, MISSING),
    "a column that is not there": (REFUSED, MISSING, MISSING),
    "a score that is no number": (REFUSED, MISSING, MISSING),
    "hangs": (NO_PROCESS, MISSING, MISSING),
    "is killed": (NO_PROCESS, MISSING, MISSING),
    "raises, text and all": (NO_PROCESS, MISSING, MISSING),
    "never connects": (MISSING, MISSING, MISSING),
    "random bytes": (NO_WIRE, REFUSED, MISSING),
    "no bytes": (NO_WIRE, REFUSED, MISSING),
    "a truncated message": (NO_WIRE, REFUSED, MISSING),
    "deeply nested brackets": (NO_WIRE, REFUSED, MISSING),
    "a message of another plan": (NO_WIRE, REFUSED, MISSING),
    "a message of a silo that the plan does not have": (NO_WIRE, REFUSED, MISSING),
    "the message of another silo": (NO_WIRE, REFUSED, REFUSED),
    "the message of another silo, from a registered node": (NO_WIRE, REFUSED, MISSING),
    "a message of another step": (NO_WIRE, REFUSED, MISSING),
    "more levels than the plan allows": (NO_WIRE, REFUSED, MISSING),
    "a tampered message": (NO_WIRE, REFUSED, MISSING),
    "an unsigned message": (NO_WIRE, REFUSED, MISSING),
    "a reply without a record": (NO_WIRE, NO_REPLY, MISSING),
    "a reply under another name": (NO_WIRE, NO_REPLY, MISSING),
    "a reply of wrong types": (NO_WIRE, NO_REPLY, MISSING),
    "a reply with a list for a refusal": (NO_WIRE, NO_REPLY, MISSING),
    "a reply with a number for a message": (NO_WIRE, NO_REPLY, MISSING),
    "a reply with an unknown refusal": (NO_WIRE, NO_REPLY, MISSING),
    "a reply with both a message and a refusal": (NO_WIRE, NO_REPLY, MISSING),
    "two nodes as one silo": (ONE_TABLE, REFUSED, REFUSED),
    "every reply twice": (NO_WIRE, NO_REPLY, HARMLESS),
    "replies in another order": (ONE_TABLE, HARMLESS, HARMLESS),
    "replies that come one at a time": (NO_WIRE, NO_REPLY, HARMLESS),
}
"""Columns: in one process, files, Flower."""

ILL = "bayside"
REST = {silo: table for silo, table in TABLES.items() if silo != ILL}
BROKEN = {
    "data that cannot be read": None,
    "a column that is not there": {"points": TABLES[ILL]["score"], "group": TABLES[ILL]["group"]},
    "a score that is no number": {
        "score": [float("nan"), *TABLES[ILL]["score"][1:]],
        "group": TABLES[ILL]["group"],
    },
}


def tried(engine):
    """The faults that an engine can have, each with what is expected of it."""
    return [
        pytest.param(fault, expected[engine], id=fault)
        for fault, expected in FAULTS.items()
        if not expected[engine].startswith("cannot be")
    ]


def plan_for(fault, folder):
    """The plan, and the keys of the silos where it asks for signatures."""
    if "tampered" not in fault and "unsigned" not in fault:
        return some_plan(), None
    folder.mkdir(exist_ok=True)
    keys = write_keys(folder)
    return some_plan(keys=public_keys(keys)), keys


def without_the_ill(plan, folder, keys=None):
    """The result of the others: what remains if one is missing."""
    return in_files(plan, REST, folder, keys)


@pytest.mark.parametrize(("fault", "expected"), tried(0))
def test_faults_in_one_process(fault, expected, tmp_path):
    if expected == MISSING:
        plan = some_plan()

        assert in_process(plan, REST) == without_the_ill(plan, tmp_path / "rest")
        return
    tables = TABLES if BROKEN[fault] is None else TABLES | {ILL: BROKEN[fault]}
    columns = sorted({name for table in tables.values() for name in table})
    rows = {
        name: [value for each in tables.values() for value in each.get(name, [None] * 150)]
        for name in columns
    }
    rows["silo"] = [silo for silo in tables for _ in range(150)]
    data = str(tmp_path / "none.csv") if BROKEN[fault] is None else rows

    with pytest.raises(fp.InputError):
        fp.simulate(data, silo="silo", score="score", group="group", plan=some_plan())


def message_of(silo, folder, *, plan=None, keys=None, tables=TABLES):
    """The bytes of a silo's true message under a plan."""
    paths = write_messages(plan or some_plan(), {silo: tables[silo]}, folder, keys)
    return paths[silo].read_bytes()


def wrong_message(fault, folder, plan, keys):
    """The bytes that the ill silo sends, for the faults that are wrong messages."""
    true = message_of(ILL, folder / "true", plan=plan, keys=keys)
    others = some_plan(levels=4), some_plan(levels=6), some_plan((*SILOS, "elm"))
    document = json.loads(true)
    if fault == "a message of another step":
        secure = some_plan(privacy={"mode": "secure", "bins": 8})
        in_files(secure, TABLES, folder / "rounds")
        return next(
            data
            for path in sorted((folder / "rounds").iterdir())
            if (data := path.read_bytes()).count(b"secure-keys") and ILL.encode() in data
        )
    if fault == "more levels than the plan allows":
        more = json.loads(message_of(ILL, folder / "more", plan=others[1]))
        return json.dumps(more | {"plan": plan.digest}).encode()
    if fault == "a message of a silo that the plan does not have":
        return json.dumps(document | {"silo": "elm"}).encode()
    if fault == "a tampered message":
        return json.dumps(document | {"rows_dropped": 1}).encode()
    if fault == "an unsigned message":
        return json.dumps({k: v for k, v in document.items() if k != "signature"}).encode()
    return {
        "random bytes": bytes(range(256)) * 4,
        "no bytes": b"",
        "a truncated message": true[:-20],
        "deeply nested brackets": b"[" * 100_000,
        "a message of another plan": message_of(ILL, folder / "other", plan=others[0]),
        "the message of another silo": message_of("aurora", folder / "stolen"),
        "the message of another silo, from a registered node": message_of(
            "aurora", folder / "stolen again"
        ),
    }[fault]


@pytest.mark.parametrize(("fault", "expected"), tried(1))
def test_faults_in_files(fault, expected, tmp_path):
    plan, keys = plan_for(fault, tmp_path)
    folder = tmp_path / "files"
    if expected == HARMLESS:
        write_messages(plan, dict(reversed(TABLES.items())), folder)

        assert audit_folder(plan, folder) == in_process(plan, TABLES)
    elif expected == MISSING:
        bad = {ILL: BROKEN[fault]} if BROKEN.get(fault) else {}
        write_messages(plan, REST | bad, folder)

        assert audit_folder(plan, folder) == without_the_ill(plan, tmp_path / "rest")
    else:
        paths = write_messages(plan, TABLES, folder, keys)
        if fault == "two nodes as one silo":
            (folder / "copy.json").write_bytes(paths[ILL].read_bytes())
        else:
            paths[ILL].write_bytes(wrong_message(fault, tmp_path, plan, keys))

        with pytest.raises(fp.errors.MessageError):
            audit_folder(plan, folder)


REPLIES = {
    "a reply without a record": replying(None),
    "a reply under another name": replying({"silo": ILL, "message": b"{}"}, name="parity"),
    "a reply of wrong types": replying({"silo": 7, "message": "text", "refused": 1.5}),
    "a reply with a list for a refusal": replying({"silo": ILL, "refused": ["failed"]}),
    "a reply with a number for a message": replying({"silo": ILL, "message": 3}),
    "a reply with an unknown refusal": replying({"silo": ILL, "refused": "no such word"}),
    "a reply with both a message and a refusal": replying(
        {"silo": ILL, "message": b"{}", "refused": "failed"}
    ),
    "hangs": silent,
    "is killed": flower_error(8, "ClientApp stopped responding."),
    "raises, text and all": raising(RuntimeError("SECRET-0.7131")),
}
REASONS = {
    "data that cannot be read": "data not usable",
    "a column that is not there": "data not usable",
    "a score that is no number": "data not usable",
    "hangs": "no answer in time",
    "is killed": "its process failed",
    "raises, text and all": "its process failed",
}
"""What the record says; of any other fault that there was no answer, or no valid message."""


def grid_of(fault):
    """A network that delivers replies in its own way."""
    from tests.flower_grid import LocalGrid  # noqa: PLC0415

    class Twice(LocalGrid):
        def pull_messages(self, message_ids):
            return [reply for one in super().pull_messages(message_ids) for reply in (one, one)]

    class Reversed(LocalGrid):
        def pull_messages(self, message_ids):
            return super().pull_messages(message_ids)[::-1]

    class OneByOne(LocalGrid):
        def pull_messages(self, message_ids):
            came = [number for number in message_ids if number in self._box]
            return super().pull_messages(came[-1:])

    return {
        "every reply twice": Twice,
        "replies in another order": Reversed,
        "replies that come one at a time": OneByOne,
    }.get(fault)


def flower_run(fault, folder):
    """A run in which one silo has the fault."""
    plan, keys = plan_for(fault, folder / "run")
    faults, settings, tables, extra = {}, {}, TABLES, ()
    if fault == "data that cannot be read":
        settings = {ILL: {"data": str(folder / "none.csv")}}
    elif fault in BROKEN:
        tables = TABLES | {ILL: BROKEN[fault]}
    elif fault == "never connects":
        tables = REST
    elif fault == "two nodes as one silo":
        settings = {"cedar": {"silo": ILL}}
    elif fault in REPLIES:
        faults = {ILL: REPLIES[fault]}
    elif grid_of(fault) is None:
        data = wrong_message(fault, folder, plan, keys)
        faults = {ILL: altered(lambda _: data)}
    return FlowerRun(
        plan=plan,
        tables=tables,
        folder=folder / "run",
        faults=faults,
        settings=settings,
        extra=extra,
        keys=keys,
        config={"quorum": 3, "time-limit": 1.0 if fault == "hangs" else 30.0},
        registered="registered" in fault,
        grid_type=grid_of(fault),
    )


@pytest.mark.parametrize(("fault", "expected"), tried(2))
def test_faults_over_flower(fault, expected, tmp_path):
    run = flower_run(fault, tmp_path)
    if expected == REFUSED:
        with pytest.raises(
            fp.errors.MessageError, match=r"two nodes answer as silo '(bayside|aurora)'"
        ):
            run.go()
        assert not (run.out / "result.json").exists()
        return

    found = run.go()

    if expected == HARMLESS:
        assert found == in_process(run.plan, TABLES)
        return
    assert json.loads(found)["silos_missing"] == [ILL]
    assert found == without_the_ill(run.plan, tmp_path / "rest", run.keys)
    asked = json.loads((run.out / "exchange.json").read_text())["asked"]
    outcomes = [each["outcome"] for each in asked if each["outcome"] != "answered"]
    if fault == "never connects":
        assert not outcomes
    else:
        default = "an unreadable answer" if "reply" in fault else "a message that is not valid"
        assert outcomes == [REASONS.get(fault, default)]


@pytest.mark.parametrize(
    "fault", [each.values[0] for each in tried(2) if each.values[1] == MISSING]
)
def test_without_a_smaller_quorum_a_missing_silo_is_an_error_that_says_why(fault, tmp_path):
    run = flower_run(fault, tmp_path)
    run.config = {**run.config, "quorum": 0}

    with pytest.raises(fp.errors.MissingSiloError) as caught:
        run.go()

    assert "3 of the 4 silos" in caught.value.message
    assert ("4 are needed" if fault == "never connects" else "the quorum is 4") in str(
        caught.value
    )
    assert not (run.out / "result.json").exists()


SECURE = some_plan(privacy={"mode": "secure", "bins": 8})
LATE = {
    # step at which one silo is lost: who is in the result
    "mask": [silo for silo in SILOS if silo != ILL],
    "unmask": list(SILOS),
}


@pytest.mark.parametrize("fault", ["hangs", "is killed", "raises, text and all", "random bytes"])
@pytest.mark.parametrize("step", LATE)
def test_a_silo_lost_in_a_secure_sum_is_missing_or_was_counted(step, fault, tmp_path):
    """Before its vector came it is missing; after that the others open the sum with it."""
    disturb = REPLIES.get(fault, altered(lambda _: b"\xff" * 99))
    run = FlowerRun(
        plan=SECURE,
        tables=TABLES,
        folder=tmp_path,
        faults={ILL: from_step(step, disturb)},
        config={"quorum": 3, "time-limit": 1.0},
    )

    found = run.go()

    received = {silo: TABLES[silo] for silo in LATE[step]}
    assert json.loads(found)["silos_received"] == LATE[step]
    assert found == in_process(SECURE, received)


@pytest.mark.parametrize("step", ["mask", "consent", "unmask"])
def test_a_silo_killed_in_a_signed_secure_sum_is_missing_or_was_counted(step, tmp_path):
    keys = write_keys(tmp_path)
    plan = some_plan(keys=public_keys(keys), privacy={"mode": "secure", "bins": 8})
    run = FlowerRun(
        plan=plan,
        tables=TABLES,
        folder=tmp_path,
        faults={ILL: from_step(step, flower_error(8))},
        config={"quorum": 3},
        keys=keys,
    )

    found = run.go()

    received = REST if step == "mask" else TABLES
    assert found == in_files(plan, received, tmp_path / "files", keys)


def other_bytes(data):
    """As many others."""
    return bytes(each ^ 0x5A for each in data)


def changed(**fields):
    """A change of fields in a message of a secure sum, which stays one of its kind."""

    def change(data):
        message = decode_round(data)
        new = {name: make(getattr(message, name)) for name, make in fields.items()}
        return replace(message, **new).to_bytes()

    return change


OTHER = "sha256:" + 64 * "0"
LIES = {
    "shares under other keys": ("shares", changed(key_set=lambda _: OTHER), REFUSED),
    "a vector under other shares": ("mask", changed(share_set=lambda _: OTHER), MISSING),
    "a vector too short": ("mask", changed(vector=lambda vector: vector[:-8]), MISSING),
    "an answer to another request": ("unmask", changed(request=lambda _: OTHER), REFUSED),
    "wrong shares": (
        "unmask",
        changed(seeds=lambda seeds: {silo: other_bytes(seed) for silo, seed in seeds.items()}),
        REFUSED,
    ),
    "an answer of another plan": ("unmask", changed(plan=lambda _: OTHER), HARMLESS),
    "no shares": (
        "unmask",
        lambda data: json.dumps(json.loads(data) | {"seeds": {}}).encode(),
        HARMLESS,
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_in_a_secure_sum_never_changes_the_number(lie, tmp_path):
    """Where the others can do without the silo they do; else it is refused by its name."""
    step, change, expected = LIES[lie]
    run = FlowerRun(
        plan=SECURE,
        tables=TABLES,
        folder=tmp_path,
        faults={ILL: from_step(step, altered(change))},
        config={"quorum": 3},
    )
    if expected == REFUSED:
        with pytest.raises(fp.errors.SecureMessageError, match=ILL):
            run.go()
        assert not (run.out / "result.json").exists()
        assert run.grid.asked[-1][1] == step  # nobody is asked for more
        return

    assert run.go() == in_process(SECURE, REST if expected == MISSING else TABLES)
    asked = json.loads((run.out / "exchange.json").read_text())["asked"]
    lost = [(e["step"], e["silo"], e["outcome"]) for e in asked if e["outcome"] != "answered"]
    assert lost == [(step, ILL, "a message that is not valid")]


def test_below_the_quorum_of_vectors_no_sum_is_opened(tmp_path):
    run = FlowerRun(
        plan=SECURE,
        tables=TABLES,
        folder=tmp_path,
        faults={ILL: from_step("mask", flower_error(8))},
    )

    with pytest.raises(fp.errors.MissingSiloError, match=r"3 of the 4 .* the quorum is 4"):
        run.go()
    assert run.grid.asked[-1][1] == "mask"


def test_two_silos_of_one_key_are_refused_before_anybody_shares_a_secret(tmp_path):
    same = altered(changed(mask_key=lambda key: bytes(range(len(key)))))
    run = FlowerRun(
        plan=SECURE, tables=TABLES, folder=tmp_path, faults={"aurora": same, ILL: same}
    )

    with pytest.raises(
        fp.errors.SecureMessageError, match=r"'aurora' and 'bayside' .* the same key"
    ):
        run.go()
    assert run.grid.asked[-1][1] == "keys"


def test_a_message_of_an_earlier_step_is_none_of_this_one(tmp_path):
    """Signed and of this very round, but not what was asked for."""
    run = FlowerRun(plan=SECURE, tables=TABLES, folder=tmp_path, faults={ILL: repeating})

    with pytest.raises(
        fp.errors.MissingSiloError, match=r"'bayside' \(a message that is not valid\)"
    ):
        run.go()
    assert run.grid.asked[-1][1] == "shares"


@pytest.mark.parametrize("step", ["keys", "shares"])
def test_keys_and_shares_must_come_from_every_silo(step, tmp_path):
    run = FlowerRun(
        plan=SECURE,
        tables=TABLES,
        folder=tmp_path,
        faults={ILL: from_step(step, flower_error(8))},
        config={"quorum": 3},
    )

    with pytest.raises(fp.errors.MissingSiloError, match="its process failed"):
        run.go()


@pytest.mark.parametrize("engine", range(3), ids=["in_process", "files", "flower"])
def test_every_fault_says_what_each_engine_makes_of_it(engine):
    for expected in FAULTS.values():
        assert expected[engine] in {MISSING, REFUSED, HARMLESS} or len(expected[engine]) > 20
