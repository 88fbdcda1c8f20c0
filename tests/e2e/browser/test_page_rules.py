"""The rules of a silo in the page and in Python refuse the same, in the same words."""

import json
import random
from dataclasses import replace
from hashlib import sha256

import pytest
from tests.e2e.browser.silo_pages import PLAN, opened_page
from tests.tiers import count

from fedparity.documents.policy_file import policy_from_toml
from fedparity.errors import FedparityError, PolicyError
from fedparity.privacy.ledger import Entry, Ledger
from fedparity.silo import permit as permits
from fedparity.silo.permit import Permit, lawful, plan_view

pytestmark = [pytest.mark.browser, pytest.mark.sampled, pytest.mark.slow]

LINES = {
    "": [
        *("page = true", "overrides = false", "other_grids = true", "without_ledger = true"),
        *('modes = ["none", "dp"]', 'modes = ["dp"]', "modes = []", "surprise = 1", "page = 1"),
        *('modes = ["none", "none"]', 'modes = "none"', "page = 2026-01-01", "epsilon.year = 3"),
        *("floors = {levels = 50}", "floors = 2026-01-01", "datasets = 1", "secure = []"),
        *(
            "floors.levels = 30",
            "[[floors]]",
            "auditors = {}",
            '"page" = true',
            "pag\\u0065 = true",
        ),
    ],
    "floors": [
        *("minimum_cell = 11", "minimum_cell = 12", "minimum_cell = 11.0", "minimum_cell = 0"),
        *("records_per_level = 20", "rounding_mean = 0.01", "rounding_mean = 0", "levels = 39"),
        *("levels = 0x28", "thresholds = 0", "thresholds = 1", "rounding_quantile = 0.2"),
        *(
            "minimum_cell = true",
            "minimum_cell = +9",
            "levels = 1_000",
            "levels = -1",
            "levels = 1e3",
        ),
        *("levels = 1000000000001", "thresholds = 99999999999999999999", "rounding_mean = nan"),
        *("rounding_mean = inf", "rounding_mean = -0.0", "rounding_mean = 1e-400", "levels = 08"),
        *("rounding_mean = 0.1", "rounding_mean = 0.10000000000000002", "minimum_cell = 11:00:00"),
        *("rounding_mean = 1", 'records_per_level = "1"', "records_per_level = [1]"),
    ],
    "approval": [
        *('people = ["Ada", "Ben"]', "needed = 1", "needed = 2", "needed = 3", "needed = 0"),
        *(
            'people = ["Ada", "Ada"]',
            "people = []",
            'people = [""]',
            'people = ["A\u200bda"]',
            "needed = true",
            "people = 1",
        ),
    ],
    "secure": ["without_keys = true", "x = 1", "unknown_silos = 1"],
    "epsilon": [
        *("release = 2", "year = 0", 'release = "2"', "release = inf", "year = nan", "year = -1"),
        *("year = true", "release = 1e-300", "year = 5"),
    ],
    "ledger": [
        'file = "ledger.jsonl"',
        "must_exist = true",
        'file = ""',
        "must_exist = 1",
        "file = 1",
    ],
    "auditors": [
        *(f'office = "{"A" * 43}="', 'office = "A"', "office = 1", f'"" = "{"B" * 43}="'),
        f'"büro & <b>" = "{"B" * 43}="',
    ],
    "datasets": [
        *('visits = ["x/*"]', "visits = []", 'visits = "x"', 'visits = [""]', 'visits = ["x", 1]'),
        *('"" = ["x"]', '"ünï" = ["x"]', "visits = [1]"),
    ],
    "silos": [f'Bayside = "{"A" * 43}="', "Bayside = []"],
}


def random_policy(draw):
    """A policy that is often valid, with keys in any order."""
    text = 'schema = "fedparity/policy/1"\n' if draw.random() < 0.95 else ""
    for table, lines in LINES.items():
        if draw.random() < (0.6 if table in ("", "floors") else 0.15):
            chosen = draw.sample(lines, draw.randint(1, 2))
            text += f"[{table}]\n" * bool(table) + "\n".join(chosen) + "\n"
    return text


def python_judges(text):
    try:
        policy = policy_from_toml(text)
    except PolicyError:
        return "not a policy"
    try:
        lawful(PLAN, policy)
    except FedparityError as error:
        return error.message
    return "no page" if not policy.page else None


PAGE_JUDGES = """async (texts) => {
  const judged = [];
  for (const text of texts) {
    let policy = null;
    try { policy = $shell_policy_file.policyOf(text, "p", told_.defaults); }
    catch (error) { judged.push("not a policy"); continue; }
    policy.name = "the default policy";
    const permit = new $shell_release_permit.ReleasePermit({
      told: told_, silo: "Aurora", policy, ledger: null, dataset: "", because: "", reading: {} });
    try { await permit.checkAuditor(); $shell_policy_file.checkPolicy(policy, told_); judged.push(null); }
    catch (error) { judged.push(error.message); }
  }
  return judged;
}""".replace("told_", "JSON.parse(document.getElementById('told').textContent)")


def test_policies_are_read_and_refuse_as_in_python(browser, tmp_path):
    draw = random.Random(20)  # noqa: S311 -- not a secret
    texts = [random_policy(draw) for _ in range(count(quick=100, all=300, soak=5000))]
    expected = [python_judges(text) for text in texts]

    with opened_page(browser, tmp_path) as page:
        found = page.frame.evaluate(PAGE_JUDGES, texts)

    wrong = [
        (text, mine, its)
        for text, mine, its in zip(texts, expected, found, strict=True)
        if mine != its
    ]
    assert wrong == []
    assert {None, "not a policy"} < set(expected)


PLANS = [
    replace(PLAN, title="groups", groups=(("A", "old"), ("A", "young"), ("B", "old"))),
    replace(PLAN, title="thresholds", thresholds=(2.5, 5.0)),
    replace(PLAN, title="levels", levels=20),
    replace(PLAN, title="grid", score_range=(0.0, 20.0)),
    replace(PLAN, title="quarter", period=("2026-01-01", "2026-03-31")),
    PLAN,
]
OWN = replace(PLAN, period=("2026-04-01", "2026-06-30"))


def random_entries(draw):
    """Releases, some voided, and approvals; a few are of the plan that is asked for."""
    made = []
    for place in range(draw.randint(0, 4)):
        plan = draw.choice([*PLANS, OWN])
        made.append(
            Entry(
                entry="release",
                time=f"2026-0{draw.randint(1, 9)}-01T00:00:00+00:00",
                plan=plan.digest,
                silo=draw.choice(["Aurora", "Bayside"]),
                dataset=draw.choice([None, "visits", "stays"]),
                release=f"sha256:{place:064}",
                message=f"sha256:{place:064}",
                view=plan_view(plan) | {"mode": draw.choice(["none", "none", "secure"])},
                in_period=draw.choice([None, True]),
                file=draw.choice([None, "/x/a.json"]),
            )
        )
        if draw.random() < 0.2:
            old = draw.choice([each.release for each in made if each.release])
            made.append(Entry(entry="void", time=made[-1].time, release=old, because="wrong"))
        if draw.random() < 0.3:
            by = draw.choice(["Ada", "Ben", "Cy"])
            plan = draw.choice([OWN.digest, PLAN.digest])
            made.append(
                Entry(
                    entry="approval",
                    time="2026-01-01T00:00:00+00:00",
                    plan=plan,
                    by=by,
                    because="x",
                )
            )
    return made


PAGE_ASKS = """async (cases) => {
  const told = JSON.parse(document.getElementById("told").textContent), found = [];
  for (const { ledger, policy, named, because, inPeriod } of cases) {
    try {
      const read = await $shell_ledger_file.LedgerFile.read("ledger.jsonl", new TextEncoder().encode(ledger));
      const permit = new $shell_release_permit.ReleasePermit({
        told, silo: "Aurora", policy: $shell_policy_file.policyOf(policy, "p", told.defaults), ledger: read,
        dataset: named, because, inPeriod, reading: {} });
      permit.policy.name = "the default policy";
      await permit.check();
      found.push(permit.replaces);
    } catch (error) { found.push(error.message); }
  }
  return found;
}"""
POLICY = 'schema = "fedparity/policy/1"\n'
POLICIES = [
    "",
    "other_grids = true\n",
    '[datasets]\nvisits = ["x/*"]\n',
    '[approval]\npeople = ["Ada", "Ben"]\n',
]


def random_case(draw, path):
    """A ledger, a policy and what the operator says; with what Python answers."""
    path.unlink(missing_ok=True)
    ledger = Ledger(path)
    ledger.begin()
    for entry in random_entries(draw):
        ledger.add(entry)
    policy = POLICY + draw.choice(POLICIES)
    case = {
        "ledger": path.read_text("ascii"),
        "policy": policy,
        "named": "visits" if "visits" in policy and draw.random() < 0.8 else "",
        "because": draw.choice(["", "", "agreed"]),
        "inPeriod": draw.random() < 0.5,
    }
    try:
        permit = Permit.of(
            OWN,
            "Aurora",
            data=None,
            policy=policy_from_toml(policy),
            ledger=path,
            dataset=case["named"] or None,
            again_because=case["because"],
            in_period=case["inPeriod"],
        )
        permit.check()
        return case, permit.voided()
    except FedparityError as error:
        return case, error.message


def test_ledgers_refuse_as_in_python(browser, tmp_path, monkeypatch):
    monkeypatch.setattr(permits, "now", lambda: "2026-11-18T00:00:00+00:00")
    draw = random.Random(21)  # noqa: S311 -- not a secret
    cases = [
        random_case(draw, tmp_path / "l.jsonl") for _ in range(count(quick=60, all=200, soak=2000))
    ]

    with opened_page(browser, tmp_path, OWN) as page:
        found = page.frame.evaluate(PAGE_ASKS, [case for case, _ in cases])

    wrong = [
        (case, mine, its)
        for (case, mine), its in zip(cases, found, strict=True)
        if mine != its and not same_dataset_words(mine, its)
    ]
    assert wrong == []
    assert len({str(mine)[:40] for _, mine in cases}) >= 5


def same_dataset_words(mine, its):
    """The page says more: that it does not see the path of a table."""
    return (
        mine
        and its
        and "does not say which data set" in mine
        and "does not say which data set" in its
    )


VALUES = [
    *(
        None,
        True,
        0,
        1,
        -1,
        1.5,
        "",
        "x",
        [],
        ["x"],
        [1],
        [None],
        [True],
        {},
        {"a": 1},
        {"a": "b"},
    ),
    *("2026-01-01T00:00:00+00:00", "2026-01-01", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00"),
    *(["2026-01-01", "2026-02-01"], ["2026-03-01", "2026-02-01"], ["2026-02-30", "2026-03-01"]),
    *("release", "void", "begin", "approval", "torn", "map", f"sha256:{0:064}"),
    {"read": 1, "filtered": 0, "without_score": 0, "weightless": 0, "relabeled": []},
    {"score": "risk", "group": ["sex"], "map": {"F": "female"}},
]
FIELDS = [
    *("surprise", "because", "dataset", "table", "epsilon", "budget", "weaker", "reading", "rows"),
    *("axes", "outcome", "replaces", "text", "by", "in_period", "staged", "weight", "previous"),
]
ROWS = {"read": 9, "filtered": 0, "without_score": 1, "weightless": 0}
RELABELED = {"label": "F", "group": "female", "reason": "map", "rows": 3}


def mutated(draw, found):
    """Drop, change or add a field of an entry, or of what an entry holds."""
    name = draw.choice([*found])
    if isinstance(found[name], list) and found[name] and isinstance(found[name][0], dict):
        return mutated(draw, found[name][0])
    if isinstance(found[name], dict) and found[name] and draw.random() < 0.7:
        return mutated(draw, found[name])
    if draw.random() < 0.2:
        del found[name]
    else:
        found[name if draw.random() < 0.8 else draw.choice(FIELDS)] = draw.choice(VALUES)
    return None


def damaged_ledger(draw, path):
    """The text of a ledger whose chain is whole, though up to two of its fields are not."""
    path.unlink(missing_ok=True)
    ledger = Ledger(path)
    ledger.begin()
    for entry in random_entries(draw):
        rows = ROWS | {"relabeled": [dict(RELABELED)]} if draw.random() < 0.5 else None
        reading = {"score": "z", "group": ["g"], "map": {"F": "A"}} if rows else None
        ledger.add(replace(entry, rows=rows, reading=reading) if entry.view else entry)
    entries = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    for _ in range(draw.randint(0, 2)):
        mutated(draw, draw.choice(entries))
    lines: list[bytes] = []
    for entry in entries:
        if lines and "previous" in entry:
            entry["previous"] = f"sha256:{sha256(lines[-1]).hexdigest()}"
        lines.append(json.dumps(entry).encode())
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path.read_text("ascii")


def is_read(path):
    try:
        Ledger(path).entries()
    except FedparityError:
        return False
    return True


def test_damaged_ledgers_are_refused_as_in_python(browser, tmp_path):
    draw = random.Random(22)  # noqa: S311 -- not a secret
    path, texts, expected = tmp_path / "l.jsonl", [], []
    for _ in range(count(quick=40, all=150, soak=5000)):
        texts.append(damaged_ledger(draw, path))
        expected.append(is_read(path))
    read = """async (texts) => {
      const found = [];
      for (const text of texts) {
        const bytes = new TextEncoder().encode(text);
        found.push(await $shell_ledger_file.LedgerFile.read("l", bytes).then(() => true, (error) => error.name !== "PageError" && error.message));
      }
      return found;
    }"""
    with opened_page(browser, tmp_path) as page:
        found = page.frame.evaluate(read, texts)

    wrong = [
        (text, mine, its)
        for text, mine, its in zip(texts, expected, found, strict=True)
        if mine != its
    ]
    assert wrong == []
    assert set(expected) == {True, False}
