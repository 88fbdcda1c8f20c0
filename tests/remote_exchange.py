"""A network for tests that is no network: who is there, and what each says, are written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fedparity.engines.remote.conversation import Answer, Loss, Member
from fedparity.engines.remote.requests import Reply, Request

__all__ = ["Clock", "ScriptedExchange", "silo_members"]

Says = Callable[[Request], Reply | Loss]


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        """The time."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.now += seconds

    def rules(self, monkeypatch: Any, module: Any) -> Clock:
        """Take the place of the time in a module."""
        monkeypatch.setattr(module, "monotonic", self.monotonic)
        monkeypatch.setattr(module, "sleep", self.sleep)
        return self


class ScriptedExchange:
    """Members that answer as the script says; who has no line stays silent.

    Parameters
    ----------
    script : mapping of Member to what it says
    arriving : sequence of members, optional
        Who is connected at each look; the last one stays. All of the script if absent.
    waits : sequence of float
        Seconds that pass before each answer, on the clock.
    """

    def __init__(
        self,
        script: Mapping[Member, Says],
        *,
        arriving: Sequence[Sequence[Member]] | None = None,
        clock: Clock | None = None,
        waits: Sequence[float] = (),
    ) -> None:
        self.script = dict(script)
        self.arriving = [list(each) for each in arriving or [list(script)]]
        self.clock, self.waits = clock, list(waits)
        self.asked: list[Member] = []
        self.limits: list[float] = []

    def members(self) -> list[Member]:
        """Who is connected at this look."""
        return self.arriving.pop(0) if len(self.arriving) > 1 else self.arriving[0]

    def ask(self, requests: Mapping[Member, Request], seconds: float) -> Iterator[Answer | None]:
        """Give each member's line, in the order of the requests."""
        self.limits.append(seconds)
        for member, request in requests.items():
            self.asked.append(member)
            if self.clock is not None and self.waits:
                self.clock.now += self.waits.pop(0)
                yield None
            says = self.script.get(member)
            yield Answer(member, Loss.SILENT if says is None else says(request))


def silo_members(*silos: str, registered: bool = False) -> list[Member]:
    """A node for each silo."""
    return [
        Member(str(number), silo if registered else None)
        for number, silo in enumerate(silos, start=10)
    ]
