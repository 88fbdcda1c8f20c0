"""Fuzz the readers of plans and messages: bytes and documents changed at random.

Run with ``python benchmarks/fuzz.py --cases 200000``. Every case must be refused with one of
fedparity's own errors, or be accepted rightly: its meaning survives writing and reading again,
an independent reading finds nothing wrong with it, and a signed message still says what was
signed. Anything else, and any case that takes seconds, ends the run with an error.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import numpy as np

from fedparity.documents.message import SiloSketch
from fedparity.documents.message_cells import HistogramCell, SketchedCell
from fedparity.documents.message_checks import check_message
from fedparity.documents.plan import Plan
from fedparity.documents.signing import generate_key, public_text, sign
from fedparity.errors import FedparityError
from fedparity.laws.labels import Group
from fedparity.privacy.count_merging import counts_above, merge_counts
from fedparity.sketches.kinds import Kind

__all__ = ["Samples", "change_bytes", "change_document", "examine_message", "examine_plan", "fuzz"]

SECONDS_PER_CASE = 5
TOKENS = [
    *(b"NaN", b"-Infinity", b"1e999", b"-0", b"-0.0", b"1E400", b"9007199254740993", b"null"),
    *(b"true", b'"\\ud800"', b"[[", b"{", b"}", b"]", b",", b":", b'"', b"\\", b"\x00", b"\xff"),
    *(b"\xed\xa0\x80", b"\xef\xbb\xbf", b"0x10", b"1_000", b"'''", b'"""', b"#", b"\n", b"= "),
    *(b'"count":', b'"values":', b'"group":', b"levels = 3\n", b"[keys]\n", b"\xe2\x80\xae"),
]
NAMES = ["count", "values", "levels", "group", "withheld", "signature", "plan", "x", "Silo", ""]


class Samples:
    """Valid plans and messages to start from; those of the last plan are signed."""

    def __init__(self, seed: int = 0) -> None:
        random = Random(seed)  # noqa: S311 -- not for secrets
        key = generate_key()
        groups: list[list[Any]] = [
            ["A", "B"],
            [1, 2, 3],
            [("F", True), ("M", False)],
            ["A", "B"],
            ["A", "B"],
        ]
        kinds: list[Kind] = ["quantile", "mean", "quantile", "quantile", "counts"]
        self.plans = [
            Plan(
                title=f"plan {position}",
                groups=labels,
                score_range=(-1, 1.5) if position % 2 else (0, 1),
                score_step=0.25 if kinds[position] == "counts" else None,
                levels=5,
                sketch=kinds[position],
                thresholds=(0.25, 0.5) if position in {1, 4} else (),
                review_level=0.02 if position else None,
                silos=None if position == 1 else ["aurora", "bay side"],
                disclosure={"minimum_cell": 1 + 10 * (position % 2)},  # type: ignore[arg-type]
                privacy={"mode": "dp", "epsilon": 1.0, "bins": 5} if position == 2 else None,  # type: ignore[arg-type]
                keys={"aurora": public_text(key)} if position == 3 else {},
                totals={"aurora": 900} if position == 2 else {},
            )
            for position, labels in enumerate(groups)
        ]
        self.messages = [(plan, _message(plan, random)) for plan in self.plans for _ in range(3)]
        self.messages = [
            (plan, sign(message, key) if plan.keys else message) for plan, message in self.messages
        ]

    def __iter__(self) -> Iterator[tuple[Plan | None, SiloSketch | Plan]]:
        yield from self.messages
        yield from ((None, plan) for plan in self.plans)


def _message(plan: Plan, random: Random) -> SiloSketch:
    cells: list[SketchedCell | HistogramCell] = []
    for group in plan.groups:
        if plan.privacy is not None:
            counts = np.array([random.randrange(-3, 60) for _ in range(plan.grid.bins)])
            noisy = HistogramCell(group=group, values=counts)
            cells.append(HistogramCell.kept_back(group) if random.random() < 0.2 else noisy)
            continue
        withheld = SketchedCell.kept_back(group, "small")
        cells.append(withheld if random.random() < 0.2 else _cell(plan, group, random))
    return SiloSketch(
        plan=plan.digest,
        silo="aurora",
        kind=plan.message_kind,
        cells=cells,
        guarantee=plan.guarantee,
        software="fedparity 0.1.0",
    )


def _cell(plan: Plan, group: Group, random: Random) -> SketchedCell:
    records = np.array([random.randrange(12, 60) for _ in range(5)])
    if plan.sketch == "counts":
        merged = merge_counts(
            plan.score_points, records, plan.disclosure, thresholds=plan.thresholds
        )
        return SketchedCell(
            group=group,
            count=int(records.sum()),
            values=merged.values,
            counts=merged.counts,
            above=merged.above,
        )
    values = np.array(sorted(round(random.uniform(*plan.score_range), 3) for _ in range(5)))
    if plan.sketch == "quantile":
        return SketchedCell(group=group, count=random.choice([40, 12.5]), values=values)
    return SketchedCell(
        group=group,
        count=float(records[:3].sum()) * 0.5,
        effective=int(records[:3].sum()),
        values=values,
        mean_square=random.random(),
        above=counts_above(
            records[:3],
            plan.disclosure,
            weights=records[:3] * 0.5,
            effective=float(records[:3].sum()),
        ),
    )


def change_bytes(data: bytes, random: Random) -> bytes:
    """Return the bytes with a few random changes, often tokens that readers trip over."""
    changed = bytearray(data)
    for _ in range(random.choice([1, 1, 1, 2, 5])):
        start = random.randrange(len(changed) + 1)
        end = min(len(changed), start + random.choice([0, 1, 2, 8, 40]))
        match random.randrange(5):
            case 0:
                changed[start:end] = random.choice(TOKENS)
            case 1:
                changed[start:start] = random.choice(TOKENS)
            case 2:
                del changed[start:end]
            case 3:
                changed[start:start] = changed[start:end] * random.choice([1, 2, 1000])
            case _ if start < len(changed):
                changed[start] ^= 1 << random.randrange(8)
    return bytes(changed)


def change_document(document: Any, random: Random) -> Any:  # noqa: ANN401 -- any JSON
    """Return the document with one part removed, doubled, renamed, moved or replaced."""
    changed = copy.deepcopy(document)
    places = list(_places(changed))
    holder, key = random.choice(places)
    match random.randrange(5):
        case 0:
            del holder[key]
        case 1:
            holder[key] = random.choice(_replacements(holder[key], random))
        case 2:
            other, other_key = random.choice(places)
            holder[key] = copy.deepcopy(other[other_key])
        case 3 if isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        case _ if isinstance(holder, dict):
            holder[random.choice(NAMES)] = holder.pop(key)
    return changed


def _places(node: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401
    entries = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in entries:
        yield node, key
        if isinstance(value, dict | list) and value:
            yield from _places(value)


def _replacements(value: Any, random: Random) -> list[Any]:  # noqa: ANN401
    near = [-value, value + 1, value / 3, str(value)] if isinstance(value, int | float) else []
    return [
        *near,
        *(None, True, False, 0, -1, 1, 0.5, 1e300, 2**53, 10**30, "", "A", "a\nb", [], {}, [[]]),
        *([value], [value, value], {"a": value}, random.random(), "x" * 300),
    ]


def examine_message(plan: Plan, original: SiloSketch, data: bytes) -> str:
    """Return how a message was received; raise if it was wrong to accept it."""
    try:
        sketch = SiloSketch.from_bytes(data)
        check_message(plan, sketch)
    except FedparityError as error:
        return type(error).__name__
    again = SiloSketch.from_bytes(sketch.to_bytes())
    check_message(plan, again)
    _require(again == sketch and again.to_bytes() == sketch.to_bytes(), "it changes when written")
    _require(not plan.keys or sketch == original, "a signed message was changed")
    _read_independently(plan, json.loads(data))
    return "accepted"


def _read_independently(plan: Plan, message: dict[str, Any]) -> None:
    """Check with plain Python what an auditor relies on."""
    _require(
        message["plan"] == plan.digest and message["kind"] == plan.message_kind, "another plan"
    )
    _require(plan.silos is None or message["silo"] in plan.silos, "another silo")
    _require(len(message["cells"]) == len(plan.groups), "other groups")
    lowest, highest = plan.score_range
    for cell in message["cells"]:
        values, count = cell["values"], cell["count"]
        if values is None:
            _require(cell["levels"] == 0 and not count, "numbers without values")
            continue
        if plan.privacy is not None:
            _require(count == max(sum(values), 0) and type(count) is int, "a count of its own")
            _require(all(type(v) is int for v in values), "counts that are not whole")
            _require(len(values) == cell["levels"] == plan.grid.bins, "other bins")
            _require(not message["rows_dropped"] and not cell["rank_error"], "exact numbers")
            continue
        _require(type(count) in (int, float) and 0 < count <= 1e12, "a bad count")
        _require(all(type(v) in (int, float) and math.isfinite(v) for v in values), "bad values")
        _require(sorted(values) == values, "values out of order")
        _require(lowest <= values[0] and values[-1] <= highest, "values out of range")
        _require(1 <= len(values) == cell["levels"] <= plan.most_values, "a wrong length")
        _require(cell["withheld"] is None, "a withheld cell with values")
        _require(len(cell["above"]) == len(plan.thresholds), "other thresholds")
        stated = [number for number in (count, *cell["above"], 0) if number is not None]
        _require(sorted(stated, reverse=True) == stated, "more above than below")
        if plan.sketch == "counts":
            _require(
                math.isclose(sum(number or 0 for number in cell["counts"]), count),
                "counts of another sum",
            )
            _require(set(values) <= set(plan.score_points.tolist()), "values off the grid")
            _require(len(set(values)) == len(cell["counts"]), "counts of other values")
            _require(values[-1] == highest, "runs that do not reach the top")
        if plan.sketch == "mean" and not cell["rank_error"]:
            _require(0 <= cell["mean_square"] < (highest - lowest) ** 2, "a mean square too large")


def examine_plan(text: str) -> str:
    """Return how a plan was received; raise if what was accepted does not survive writing."""
    try:
        plan = Plan.from_toml(text)
    except FedparityError as error:
        return type(error).__name__
    again = Plan.from_toml(plan.to_toml())
    _require(again == plan and again.digest == plan.digest, "the plan changes when written")
    _require(Plan.from_dict(plan.to_dict()).digest == plan.digest, "the plan changes as JSON")
    _require(plan.score_range[0] < plan.score_range[1], "an empty range")
    _require(len({str(group) for group in plan.groups}) == len(plan.groups) >= 2, "few groups")
    return "accepted"


def _require(condition: bool, problem: str) -> None:  # noqa: FBT001 -- reads as a sentence
    if not condition:
        raise AssertionError(problem)


def fuzz(cases: int, seed: int = 0, progress: Callable[[int], None] | None = None) -> Counter[str]:
    """Return how many cases were received in which way."""
    random = Random(seed)  # noqa: S311 -- not for secrets
    samples = list(Samples())
    received: Counter[str] = Counter()
    for case in range(cases):
        plan, sample = random.choice(samples)
        with time_limit(SECONDS_PER_CASE):
            if isinstance(sample, Plan):
                received[f"plan: {examine_plan(_changed_plan(sample, random))}"] += 1
            elif plan is not None:
                data = _changed_message(sample, random)
                received[f"message: {examine_message(plan, sample, data)}"] += 1
        if progress is not None and case % 10_000 == 0:
            progress(case)
    return received


def _changed_message(sketch: SiloSketch, random: Random) -> bytes:
    if random.random() < 0.5:
        return change_bytes(sketch.to_bytes(), random)
    return json.dumps(change_document(sketch.to_dict(), random)).encode()


def _changed_plan(plan: Plan, random: Random) -> str:
    if random.random() < 0.5:
        return change_bytes(plan.to_toml().encode(), random).decode("utf-8", "replace")
    lines = plan.to_toml().splitlines()
    position = random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            del lines[position]
        case 1:
            lines.insert(position, random.choice(lines))
        case 2:
            lines[position] = lines[position].split("#")[0] + random.choice(
                ["", "1", "[", '"', "."]
            )
        case _:
            key = lines[position].partition("=")[0]
            value = random.choice(_replacements(random.choice([0, 1.5, "a"]), random))
            lines[position] = f"{key} = {json.dumps(value)}"
    return "\n".join(lines)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise where the block takes longer, if the system has timers."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        problem = f"a case took more than {seconds} seconds"
        raise AssertionError(problem)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def main() -> None:
    """Print how many cases were received in which way."""
    parser = argparse.ArgumentParser(description="Fuzz the readers of plans and messages.")
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    show = lambda done: print(f"{done:,} cases", file=sys.stderr)  # noqa: E731
    for kind, count in sorted(fuzz(options.cases, options.seed, show).items()):
        print(f"{kind:28s} {count:>9,}")


if __name__ == "__main__":
    main()
