"""What an engine has to offer: who is connected, and how they are asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from fedparity.engines.remote.wording import Reply, Request

__all__ = ["Answer", "Exchange", "Loss", "Member"]


class Loss(StrEnum):
    """Why nothing came from a silo that was asked, as far as the engine can tell."""

    SILENT = "no answer in time"
    NOT_STARTED = "its app could not be started"
    CRASHED = "its process failed"
    UNREACHABLE = "could not be reached"
    GARBLED = "an answer that is none"


@dataclass(frozen=True)
class Member:
    """A node that is connected."""

    node: str
    """How the engine calls it."""
    name: str | None = None
    """The name under which its key was registered, if the engine knows one."""


@dataclass(frozen=True)
class Answer:
    """What came from a member, or why nothing did."""

    member: Member
    came: Reply | Loss


class Exchange(Protocol):
    """The network of an engine."""

    def members(self) -> Sequence[Member]:
        """Return who is connected now."""
        ...  # pragma: no cover

    def ask(self, requests: Mapping[Member, Request], seconds: float) -> Iterator[Answer | None]:
        """Ask several members at once, and yield exactly one answer for each.

        Answers are yielded as they come, and None every now and then while nothing does; after
        ``seconds`` those that did not come are yielded as silent. An answer belongs to the member
        whose request it answers, whatever it says of itself.
        """
        ...  # pragma: no cover
