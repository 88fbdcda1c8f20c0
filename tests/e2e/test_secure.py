"""Four silos in four folders add up their numbers; one drops out; the auditor sees a sum."""

import json
import re

import numpy as np
import pytest
from tests.e2e.running import files, finish, run, start
from tests.e2e.test_audit import write

import fedparity as fp

pytestmark = pytest.mark.slow

SILOS = ("aurora", "bayside", "cedar", "dune")
COLUMNS = ("--score", "risk", "--group", "sex")


def plan(**options):
    return fp.Plan(
        title="Q4",
        groups=("F", "M"),
        score_range=(0.0, 1.0),
        silos=SILOS,
        privacy={"mode": "secure", "bins": 64},
        **options,
    )


def rows_of(place):
    """Records of one silo: its own mix of groups, and its own laws."""
    random = np.random.default_rng(place)
    groups = random.choice(["F", "M"], 300 + 50 * place, p=[0.3 + place / 10, 0.7 - place / 10])
    return [(float(random.beta(2 + place + (group == "M"), 5)), group) for group in groups]


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    """Every silo has its table, its key and the plan; all share one inbox."""
    folder = tmp_path_factory.mktemp("consortium")
    (folder / "inbox").mkdir()
    keys = {}
    for place, silo in enumerate(SILOS):
        (folder / silo).mkdir()
        write(folder / silo / "data.csv", ("risk", "sex"), rows_of(place))
        code, line, _ = run("keygen", silo, folder=folder / silo)
        assert code == 0
        keys[silo] = json.loads("{" + line.replace(" = ", ":") + "}")[silo]
    plan(keys=keys).write(folder / "plan.toml")
    known = "".join(f'{silo} = "{key}"\n' for silo, key in keys.items())
    for silo in SILOS:  # each knows the others by another way than the plan
        policy = folder / silo / ".config" / "fedparity" / "policy.toml"
        policy.parent.mkdir(parents=True)
        policy.write_text(f'schema = "fedparity/policy/1"\n[silos]\n{known}')
    return folder


def together(folder, name, silos, *arguments):
    """Let silos make a step at the same time, each in a process of its own."""
    running = {}
    for silo in silos:
        out = f"../inbox/{silo}.{name}.json"
        options = ("--silo", silo, "--sign", f"{silo}.key", "-o", out)
        command = ("secure", name, "../plan.toml", *arguments, *options)
        running[silo] = start(*command, folder=folder / silo, home=folder / silo)
    for silo, process in running.items():
        code, _, err = finish(process)
        assert code == 0, (silo, err)


@pytest.fixture(scope="module")
def round_(consortium):
    """A whole round, from which dune drops out after it has shared its secrets."""
    staying = SILOS[:3]
    together(consortium, "keys", SILOS)
    together(consortium, "shares", SILOS, "../inbox")
    together(consortium, "mask", staying, "data.csv", "../inbox", *COLUMNS)
    request = ("secure", "request", "plan.toml", "inbox", "-o", "inbox/request.json")
    assert run(*request, folder=consortium)[0] == 0
    together(consortium, "consent", staying, "../inbox")
    for silo in SILOS:
        state = (consortium / silo / f"{silo}.secure-state").read_bytes()
        (consortium / silo / "copy").write_bytes(state)  # its secrets are forgotten in the end
    together(consortium, "unmask", staying, "../inbox")
    return consortium


def test_the_sum_is_that_of_the_silos_that_stayed(round_):
    """The result is, number for number, that of a simulation with their tables."""
    code, printed, err = run("audit", "plan.toml", "inbox", "--json", folder=round_)
    rows = [(*row, silo) for place, silo in enumerate(SILOS[:3]) for row in rows_of(place)]
    write(round_ / "pooled.csv", ("risk", "sex", "silo"), rows)
    plan().write(round_ / "unsigned.toml", overwrite=True)
    options = ("--silo", "silo", *COLUMNS, "--plan", "unsigned.toml", "--json")
    _, simulated, _ = run("simulate", "pooled.csv", *options, folder=round_)

    assert code == 0, err
    found, expected = json.loads(printed), json.loads(simulated)
    for part in ("n", "groups", "disparity", "heterogeneity", "decomposition", "curves", "pairs"):
        assert found[part] == expected[part]
    assert found["silos_missing"] == ["dune"]


def test_nothing_but_messages_is_in_the_inbox_and_no_secret_in_any(round_):
    """The secrets of every state, as bytes or as base64, are in no file that was sent."""
    sent = b"".join((round_ / "inbox" / name).read_bytes() for name in files(round_ / "inbox"))
    for silo in SILOS:
        state = json.loads((round_ / silo / "copy").read_bytes())
        for name in ("mask_secret", "share_secret", "seed"):
            assert state[name].encode() not in sent


def test_verify_knows_who_dropped_out(round_):
    code, printed, _ = run("verify", "plan.toml", "inbox", folder=round_)

    assert code == 0
    assert re.search(r"the sum can\s+be opened; dropped out: dune", printed)


def test_a_step_that_was_made_is_refused(round_):
    """Another process, with other data: neither the state nor the ledger lets it out."""
    write(round_ / "aurora" / "other.csv", ("risk", "sex"), rows_of(5))
    options = ("--silo", "aurora", "--sign", "aurora.key", "-o", "second.json")
    command = ("secure", "mask", "../plan.toml", "other.csv", "../inbox", *COLUMNS, *options)

    code, _, err = run(*command, folder=round_ / "aurora", home=round_ / "aurora")

    assert code == 4
    assert "already sent its mask" in err
    assert not (round_ / "aurora" / "second.json").exists()


def test_a_message_signed_with_another_key_is_refused(round_, tmp_path):
    """Somebody replaces a silo's answer by one that they signed."""
    for name in files(round_ / "inbox"):
        (tmp_path / name).write_bytes((round_ / "inbox" / name).read_bytes())
    answer = json.loads((tmp_path / "cedar.unmask.json").read_bytes())
    signature = json.loads((tmp_path / "bayside.unmask.json").read_bytes())["signature"]
    (tmp_path / "cedar.unmask.json").write_text(json.dumps({**answer, "signature": signature}))

    code, _, err = run("audit", "plan.toml", tmp_path, folder=round_)

    assert code == 3
    assert "signature of silo 'cedar' does not fit" in err
