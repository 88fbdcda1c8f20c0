"""A silo's whole part of a secure sum through a collector: every step in its order, waiting for the others."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from fedparity.documents.plan import Plan
from fedparity.errors import CollectorUnreachableError, MessageError, RoundError
from fedparity.modes.mode import StepName
from fedparity.modes.secure.round_checks import Inbox, decode_round
from fedparity.modes.secure.round_messages import SiloRoundMessage
from fedparity.service.sender import Door

__all__ = ["follow_round"]

_INPUTS: dict[StepName, tuple[str, ...]] = {
    "keys": (),
    "shares": ("keys",),
    "mask": ("keys", "shares"),
    "consent": ("request",),
    "unmask": ("request", "consent"),
}
"""The steps of a silo in their order, and what each of them needs of others."""
_ORDER = (*_INPUTS, "done")
_STANDING = {"plan": str, "silo": str, "phase": str, "came": int, "needed": int, "dropped": bool}
"""What a collector says of a round."""
_LARGEST = 1 << 29
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0


class MakeStep(Protocol):
    """How a silo makes a step, or takes its message again if it was made before."""

    def __call__(
        self, step: StepName, inbox: Callable[[], Inbox]
    ) -> AbstractContextManager[SiloRoundMessage]:
        """Give the message of a step, once the state that says so is on the disk."""
        ...


def follow_round(
    door: Door,
    plan: Plan,
    silo: str,
    make: MakeStep,
    *,
    timeout: float,
    tell: Callable[[str], None],
) -> None:
    """Make every step of a silo, each as soon as the others have made those before it.

    Nothing is remembered here: after an interruption the same call goes on where the silo's state stands,
    and sends again what the collector may not have.

    Parameters
    ----------
    timeout : float
        Seconds to wait for the others before each step.
    tell : callable
        Prints a line of progress.

    Raises
    ------
    CollectorUnreachableError
        If the collector, or enough silos, do not answer in time.
    MessageError
        If the collector refuses a document, or has another plan.
    RoundError
        If the round has gone on without this silo.
    """
    _check_study(_standing(door), plan, silo)
    for step, needed in _INPUTS.items():
        if step == "consent" and not plan.keys:
            continue
        _wait(door, silo, step, timeout, tell)
        with make(step, lambda needed=needed: _inbox(door, needed)) as message:  # type: ignore[misc]
            data = message.to_bytes()
        sent = _patiently(lambda data=data: door.send(data), timeout)  # type: ignore[misc]
        tell(f"{step}: {'sent' if sent.new else 'it was there already'}")


def _standing(door: Door) -> dict[str, Any]:
    try:
        found = json.loads(door.call("GET", "/api/round")[1])
        fits = all(isinstance(found[name], kind) for name, kind in _STANDING.items())
        if fits and found["phase"] in _ORDER:
            return {name: found[name] for name in _STANDING}
    except (ValueError, TypeError, KeyError):
        pass
    raise CollectorUnreachableError(
        "the address does not answer as a collector.", fix="check the address with the auditor."
    )


def _check_study(found: dict[str, Any], plan: Plan, silo: str) -> None:
    if found.get("plan") != plan.digest:
        raise MessageError(
            "the collector's study has another plan than this one.",
            fix="download the plan from the silo's page, and compare its digest with the auditor's.",
        )
    if found.get("silo") != silo:
        raise MessageError(
            f"the token is of another silo than {silo!r}.", fix="use the token of this silo."
        )


def _wait(
    door: Door, silo: str, step: StepName, timeout: float, tell: Callable[[str], None]
) -> None:
    """Return once a step can be made; a collector that does not answer for a while is waited for, too."""
    until, pause, told = time.monotonic() + timeout, _FIRST_PAUSE, ""
    while True:
        try:
            found = _standing(door)
        except CollectorUnreachableError as error:
            words = error.message
        else:
            if found["dropped"]:
                raise RoundError.left_out(silo)
            if _ORDER.index(found["phase"]) >= _ORDER.index(step):
                return
            words = (
                f"waiting for the {found['phase']} of other silos: {found['came']} came, "
                f"{found['needed']} are needed"
            )
        if words != told:
            tell(words)
            told = words
        if time.monotonic() >= until:
            raise CollectorUnreachableError(
                f"nothing went on in {timeout:g} seconds: {words.rstrip('.')}.",
                fix="run the same command again: it goes on where it stopped.",
            )
        time.sleep(min(pause, max(until - time.monotonic(), 0)))
        pause = min(pause * 1.5, _LONGEST_PAUSE)


def _patiently(call: Callable[[], Any], timeout: float) -> Any:  # noqa: ANN401 -- what it returns
    until, pause = time.monotonic() + timeout, _FIRST_PAUSE
    while True:
        try:
            return call()
        except CollectorUnreachableError:
            if time.monotonic() >= until:
                raise
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)


def _inbox(door: Door, steps: tuple[str, ...]) -> Inbox:
    return Inbox(
        tuple(
            decode_round(line)
            for step in steps
            for line in door.call("GET", f"/api/round/{step}", longest=_LARGEST)[1].splitlines()
        )
    )
