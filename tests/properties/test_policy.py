"""No plan gets more out of a silo than its policy allows, judged by a checker of its own.

The checker below reads the two TOML texts with the parser of the standard library and knows nothing of
the package: a mistake of the package's reading is found as well.
"""

import random
import tomllib
from datetime import date, timedelta

import numpy as np
import pytest
from tests.tiers import count

import fedparity as fp
from fedparity.documents.policy_file import policy_from_toml
from fedparity.privacy.ledger import Ledger
from fedparity.privacy.policy import RULES
from fedparity.silo.permit import Permit

KEYS = [f"{letter * 42}w=" for letter in "ABCDEFGH"]
SILOS = ("north", "south", "west", "east")
DEFAULTS = {
    "minimum_cell": 11,
    "records_per_level": 10,
    "rounding_mean": 0.005,
    "rounding_quantile": 0.001,
    "levels": 1000,
    "thresholds": 20,
}


def some_policy(draw):
    """The text of a policy; each key is there or not."""
    lines = ['schema = "fedparity/policy/1"']
    if draw.random() < 0.4:
        modes = draw.sample(["none", "dp", "secure", "secure+dp"], draw.randint(1, 4))
        lines.append(f"modes = {modes}")
    if draw.random() < 0.3:
        lines.append(f"overrides = {draw.choice(['true', 'false'])}")
    choices = {
        "minimum_cell": [1, 5, 11, 20],
        "records_per_level": [0, 5, 10, 30],
        "rounding_mean": [0, 0.001, 0.005, 0.02],
        "rounding_quantile": [0, 0.0005, 0.001, 0.01],
        "levels": [10, 100, 5000],
        "thresholds": [0, 1, 3],
    }
    lines.append("[floors]")
    lines += [f"{k} = {draw.choice(v)}" for k, v in choices.items() if draw.random() < 0.4]
    lines.append("[epsilon]")
    lines += [f"release = {draw.choice([0.1, 1, 2.5])}"] * (draw.random() < 0.4)
    lines.append("[secure]")
    for key in ("without_keys", "unknown_silos"):
        lines += [f"{key} = {draw.choice(['true', 'false'])}"] * (draw.random() < 0.5)
    lines.append("[silos]")
    lines += [f'{s} = "{k}"' for s, k in zip(SILOS, KEYS, strict=False) if draw.random() < 0.7]
    return "\n".join(lines) + "\n"


def some_plan(draw):
    """The text of a plan that is valid; what it asks for is as weak or strong as it comes."""
    sketch = draw.choice(["mean", "quantile", "counts", None])
    step = draw.choice([0.1, 0.01, 0.0001]) if sketch == "counts" or draw.random() < 0.3 else None
    mode = draw.choice(["none", "none", "none", "dp", "secure", "secure+dp"])
    lines = ['schema = "fedparity/plan/1"', 'title = "Q"', 'groups = ["A", "B"]']
    lines.append("score_range = [0.0, 1.0]")
    lines += [f"score_step = {step}"] * (step is not None)
    lines += [f'sketch = "{sketch}"'] * (sketch is not None)
    lines.append(f"levels = {draw.choice([1, 10, 100, 1001, 6000])}")
    lines.append(f"thresholds = {sorted(draw.sample([0.1, 0.2, 0.5, 0.7], draw.randint(0, 4)))}")
    lines.append(f"silos = {list(SILOS)}")
    lines.append("[disclosure]")
    lines += [f"minimum_cell = {draw.choice([1, 4, 11, 12, 40])}"] * (draw.random() < 0.6)
    lines += [f"records_per_level = {draw.choice([0, 1, 9, 10, 50])}"] * (draw.random() < 0.6)
    free = sketch == "mean" or (step is None and sketch != "counts")
    if free and draw.random() < 0.6:
        lines.append(f"rounding = {draw.choice([0, 0.0009, 0.001, 0.004, 0.005, 0.05])}")
    if mode != "none":
        lines += ["[privacy]", f'mode = "{mode}"']
        lines += [f"epsilon = {draw.choice([0.05, 1.0, 2.0, 1e300])}"] * (mode != "secure")
        if draw.random() < 0.6:
            keys = draw.sample(KEYS, len(SILOS)) if draw.random() < 0.3 else KEYS
            lines.append("[keys]")
            lines += [f'{silo} = "{key}"' for silo, key in zip(SILOS, keys, strict=False)]
    return "\n".join(lines) + "\n"


def forbidden(plan_text, policy_text):  # noqa: C901, PLR0912 -- one test per rule
    """Which rules of a policy a plan breaks; from the texts alone."""
    plan, law = tomllib.loads(plan_text), tomllib.loads(policy_text)
    floors = DEFAULTS | law["floors"]
    rules = plan["disclosure"]
    mode = plan.get("privacy", {}).get("mode", "none")
    step = plan.get("score_step")
    points = None if step is None else round(1 / step) + 1
    sketch = plan.get("sketch")
    if sketch is None:
        sketch = "counts" if points is not None and points <= plan["levels"] else "mean"
    broken = set()
    if mode not in law.get("modes", ("none", "dp", "secure", "secure+dp")):
        broken.add("mode")
    if mode in ("dp", "secure+dp"):
        if plan["privacy"]["epsilon"] > law["epsilon"].get("release", 1.0):
            broken.add("epsilon")
    else:
        if rules.get("minimum_cell", 11) < floors["minimum_cell"]:
            broken.add("minimum_cell")
        if len(plan["thresholds"]) > floors["thresholds"]:
            broken.add("thresholds")
    if mode == "none":
        if rules.get("records_per_level", 10) < floors["records_per_level"]:
            broken.add("records_per_level")
        if sketch != "counts":
            default = {"mean": 0.005, "quantile": 0.001 if step is None else 0.0}[sketch]
            rounding = rules.get("rounding", default)
            if sketch == "quantile" and step is not None:
                rounding = max(rounding, step)
            if rounding < floors[f"rounding_{sketch}"]:
                broken.add("rounding")
            if plan["levels"] > floors["levels"]:
                broken.add("levels")
    if mode.startswith("secure"):
        keys = plan.get("keys", {})
        if not keys and not law["secure"].get("without_keys", False):
            broken.add("keys")
        strangers = any(keys.get(silo, "") != law["silos"].get(silo) for silo in SILOS)
        if strangers and not law["secure"].get("unknown_silos", False):
            broken.add("silos")
    return broken, law.get("overrides", True)


def valid_case(number):
    draw = random.Random(number)  # noqa: S311
    policy_text = some_policy(draw)
    while True:
        text = some_plan(draw)
        try:
            plan = fp.Plan.from_toml(text)
        except fp.errors.PlanError:  # a level too many for the groups, an epsilon without bins, …
            continue
        named = tuple(draw.sample(RULES, draw.choice([0, 0, 0, 1, 3])))
        return plan, text, policy_text, named


@pytest.mark.sampled
def test_no_plan_is_obeyed_that_the_policy_forbids():
    """And none is refused that it allows."""
    outcomes = {True: 0, False: 0}
    for number in range(count(quick=2000, all=5000, soak=100_000)):
        plan, text, policy_text, named = valid_case(number)
        broken, overrides = forbidden(text, policy_text)
        expected = broken <= set(named) if overrides else not broken
        try:
            permit = Permit.of(
                plan,
                "north",
                data=None,
                policy=policy_from_toml(policy_text),
                allow_weaker=named,
            )
        except fp.errors.RuleError as error:
            allowed = False
            assert all(rule in error.message for rule in broken - set(named))  # noqa: PT017
        else:
            allowed = True
            assert set(permit.weaker) == broken
        assert allowed == expected, (text, policy_text, named)
        outcomes[allowed] += 1

    assert min(outcomes.values()) > 0.1 * sum(outcomes.values())  # both were tried


@pytest.mark.sampled
def test_what_is_released_keeps_the_floors_of_the_policy():
    """Seen in the message itself: the size of cells, records per value, digits."""
    seen = 0
    numbers = np.random.default_rng(0)
    for number in range(count(quick=800, all=2000, soak=20_000)):
        plan, text, policy_text, _ = valid_case(number)
        if plan.privacy is not None or plan.sketch == "counts" or forbidden(text, policy_text)[0]:
            continue
        floors = DEFAULTS | tomllib.loads(policy_text)["floors"]
        sizes = numbers.choice([3, 8, 12, 25, 90], 2)
        step = plan.score_step or 1e-6
        scores = np.round(numbers.random(sizes.sum()) / step).clip(0, 1 / step) * step
        if plan.score_step is not None:
            scores = plan.score_points[np.rint(scores / step).astype(int)]
        table = {"score": scores, "group": np.repeat(["A", "B"], sizes)}
        law = policy_from_toml(policy_text + "[ledger]\n")
        message = fp.sketch(table, plan=plan, silo="north", policy=law)
        Ledger(Permit.of(plan, "north", data=None, policy=law).ledger.path).path.unlink()
        for cell in message.cells:
            if cell.values is None:
                continue
            seen += 1
            assert cell.count >= floors["minimum_cell"]
            assert cell.levels == 1 or cell.levels * floors["records_per_level"] <= cell.count
            grid = floors[f"rounding_{plan.sketch}"]
            if grid and plan.rounding >= grid:
                steps = np.asarray(cell.values) / plan.rounding
                inside = np.abs(steps - np.rint(steps)) < 1e-6
                assert inside.all()
    assert seen > 20


TITLES = ("Q4", "Q４", "Q4 ", "other")
GROUPS = (("A", "B"), (("A", "x"), ("A", "y"), ("B", "x"), ("B", "y")))
PERIODS = (
    None,
    ("2026-01-01", "2026-03-31"),
    ("2026-03-01", "2026-05-31"),
    ("2026-06-01", "2026-06-30"),
)


class Model:
    """What the ledger should do with a sequence of releases, in a few lines of its own."""

    def __init__(self):
        self.made = []

    def verdict(self, new):
        """Whether a release is the same again, refused, or ok."""
        for old in self.made:
            if (old["plan"], old["silo"]) == (new["plan"], new["silo"]):
                return "again" if old["content"] == new["content"] else "refused"
        before = [old for old in self.made if self.same(old, new) and self.overlap(old, new)]
        exact = [old for old in before if old["epsilon"] is None]
        if new["epsilon"] is None and any(old["grid"] != new["grid"] for old in exact):
            return "refused"
        if before and not new["reason"]:
            return "refused"
        if new["epsilon"] is not None:
            budget = min([new["budget"], *(old["budget"] for old in before if old["budget"])])
            cost = sum(old["epsilon"] or 0 for old in before) + new["epsilon"]
            year = sum(old["epsilon"] or 0 for old in self.made if self.same(old, new))
            if cost > budget + 1e-6 or year + new["epsilon"] > 4 + 1e-6:
                return "refused"
        return "ok"

    @staticmethod
    def same(old, new):
        """Whether two releases are of the same records."""
        if old["table"] and old["table"] == new["table"]:
            return True
        if old["dataset"] and new["dataset"]:
            return old["dataset"] == new["dataset"]
        return old["silo"] == new["silo"]

    @staticmethod
    def overlap(old, new):
        """Whether they have a day in common, as far as the silo says so."""
        if not (old["period"] and new["period"] and old["confirmed"] and new["confirmed"]):
            return True
        first, last = (date.fromisoformat(day) for day in old["period"])
        days = {first + timedelta(days=number) for number in range((last - first).days + 1)}
        begin, end = (date.fromisoformat(day) for day in new["period"])
        return any(begin <= day <= end for day in days)


def step_of(draw, named):
    """A plan, and what the operator says to it."""
    epsilon = draw.choice([None, None, 0.25, 1.0])
    rounding = draw.choice([0.005, 0.005, 0.005, 0.01])
    options = {
        "title": draw.choice(TITLES),
        "groups": draw.choice(GROUPS),
        "score_range": draw.choice([(0.0, 1.0)] * 4 + [(-0.01, 1.0)]),
        "levels": draw.choice([5, 9]),
        "thresholds": draw.choice([(), (0.5,)]),
        "period": draw.choice(PERIODS),
        "disclosure": {"rounding": rounding},
    }
    if epsilon is not None:
        budget = draw.choice([epsilon, 1.0, 50.0])
        options["privacy"] = {"mode": "dp", "epsilon": epsilon, "budget": max(budget, epsilon)}
    plan = fp.Plan(**options)
    return plan, {
        "plan": plan.digest,
        "silo": draw.choice(["north", "north", "north", "south"]),
        "table": draw.choice(["/data/a.csv", "/data/a.csv", "/data/b.csv", None]),
        "dataset": draw.choice(["a", "b"]) if named else None,
        "content": draw.choice(["1", "1", "2"]),
        "epsilon": epsilon,
        "budget": None if epsilon is None else plan.privacy.budget,
        "grid": (plan.score_range, rounding),
        "period": plan.period,
        "confirmed": draw.random() < 0.5,
        "reason": draw.choice([None, None, "agreed"]),
    }


@pytest.mark.sampled
def test_no_sequence_of_plans_releases_a_second_view_without_a_reason(tmp_path, monkeypatch):
    """Nor one on another grid or beyond a budget, whatever the reason; nor is anything else refused."""
    monkeypatch.setattr("os.fsync", lambda _: None)  # nobody pulls the plug here
    outcomes = {"ok": 0, "refused": 0, "again": 0}
    policies = {
        True: policy_from_toml(
            'schema = "fedparity/policy/1"\n[datasets]\na = ["/a"]\nb = ["/b"]\n'
        ),
        False: policy_from_toml('schema = "fedparity/policy/1"\n'),
    }
    for number in range(count(quick=200, all=500, soak=10_000)):
        draw = random.Random(number)  # noqa: S311
        named = draw.random() < 0.5
        ledger, model = Ledger(tmp_path / f"{number}.jsonl"), Model()
        for _ in range(draw.randint(2, 9)):
            plan, new = step_of(draw, named)
            permit = Permit(
                plan=plan,
                silo=new["silo"],
                policy=policies[named],
                ledger=ledger,
                dataset=new["dataset"],
                table=new["table"],
                again_because=new["reason"],
                in_period=new["confirmed"],
            )
            expected = model.verdict(new)
            before = len(ledger.entries())
            try:
                with permit.commit(new["content"], f"message {new['content']}"):
                    pass
            except fp.errors.DisclosureError:
                found = "refused"
            else:
                grown = len(ledger.entries()) - before
                found = "ok" if grown else "again"
            assert found == expected, (number, new)
            outcomes[found] += 1
            if found == "ok":
                model.made.append(new)
        ledger.path.unlink(missing_ok=True)

    assert min(outcomes.values()) > 0
