"""A secure sum of many silos in one process: how long each step takes, and how much is sent.

    python benchmarks/secure.py               50 silos, 256 bins, 2 groups
    python benchmarks/secure.py --silos 200

One thread does the work of all silos and of the auditor, so a silo's own share of a time is that
divided by their number. One silo in ten drops out after it has shared its secrets. Ends with exit code 1
if a bar is missed, or the sum is not the plain one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

import fedparity as fp
from fedparity.modes.secure import silo_steps as steps
from fedparity.modes.secure.round_checks import Inbox
from fedparity.modes.secure.round_messages import RoundMessage
from fedparity.modes.secure.round_progress import open_sum, request_for
from fedparity.modes.secure.secure_mode import SiloNumbers, silo_vector
from fedparity.modes.secure.silo_steps import answer_request

SECONDS = 30.0
UPLOAD = 100_000
"""Bars: all steps of 50 silos together; bytes of the largest message of a silo."""

Made = TypeVar("Made")


class Clock:
    """Times of steps, printed as they are made."""

    def __init__(self) -> None:
        self.total = 0.0

    def time(self, name: str, work: Callable[[], Made]) -> Made:
        """Return what some work gives, and print how long it took."""
        start = time.perf_counter()
        made = work()
        took = time.perf_counter() - start
        self.total += took
        print(f"{name:<28} {took:8.3f} s")
        return made


def plan_of(silos: int, bins: int) -> fp.Plan:
    """Return the plan of a secure sum."""
    return fp.Plan(
        title="benchmark",
        groups=("A", "B"),
        score_range=(0.0, 1.0),
        silos=[f"silo {place:03d}" for place in range(silos)],
        privacy={"mode": "secure", "bins": bins},  # type: ignore[arg-type]
    )


def run(plan: fp.Plan, clock: Clock) -> tuple[list[RoundMessage], bool]:
    """Make every step of a round; return the messages, and whether the sum is the plain one."""
    silos = tuple(plan.silos or ())
    random = np.random.default_rng(0)
    shape = (len(plan.groups), plan.grid.bins)
    counts = {silo: SiloNumbers(random.poisson(20, shape), 0) for silo in silos}
    staying = silos[len(silos) // 10 :]
    made = clock.time("keys", lambda: [steps.publish_keys(plan, silo) for silo in silos])
    keys = Inbox(tuple(step.message for step in made))
    made = clock.time(
        "shares", lambda: [steps.share_secrets(plan, step.state, keys) for step in made]
    )
    sent = [*keys.messages, *(step.message for step in made)]
    states = {step.state.silo: step.state for step in made}
    vectors = clock.time(
        "numbers", lambda: {silo: silo_vector(plan, counts[silo]) for silo in staying}
    )
    inbox = Inbox(tuple(sent))
    ready = clock.time(
        "open and check shares",
        lambda: {silo: steps.make_ready(plan, states[silo], inbox) for silo in staying},
    )
    made = clock.time(
        "mask",
        lambda: [steps.mask(plan, states[silo], ready[silo], vectors[silo]) for silo in staying],
    )
    sent += [step.message for step in made]
    request = clock.time("request", lambda: request_for(plan, Inbox(tuple(sent))))
    made = clock.time(
        "unmask",
        lambda: [answer_request(plan, step.state, request, inbox) for step in made],
    )
    sent += [request, *(step.message for step in made)]
    opened = clock.time("check and sum", lambda: open_sum(plan, Inbox(tuple(sent))))
    return sent, bool((opened.vector == sum(vectors.values())).all())


def main() -> int:
    """Print times and sizes; return 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--silos", type=int, default=50)
    parser.add_argument("--bins", type=int, default=256)
    chosen = parser.parse_args()
    plan, clock = plan_of(chosen.silos, chosen.bins), Clock()
    print(f"{chosen.silos} silos, {chosen.bins} bins, 2 groups")
    sent, exact = run(plan, clock)
    print(f"{'all silos and the auditor':<28} {clock.total:8.3f} s  (bar: {SECONDS:g} s)")
    sizes: dict[str, int] = {}
    for message in sent:
        sizes[message.schema] = max(sizes.get(message.schema, 0), len(message.to_bytes()))
    for name, size in sizes.items():
        print(f"{name:<28} {size:8,d} bytes")
    print(f"{'the plain sum':<28} {'yes' if exact else 'NO':>8}")
    return int(clock.total > SECONDS or max(sizes.values()) > UPLOAD or not exact)


if __name__ == "__main__":
    sys.exit(main())
