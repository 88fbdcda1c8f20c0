"""The one way out of a silo for whatever goes wrong in it: a fixed word, and no text."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from fedparity.engines.remote.wording import Refusal, Reply, Request
from fedparity.errors import (
    AnsweredError,
    ApprovalError,
    DisclosureError,
    DocumentError,
    FedparityError,
    KeyFileError,
    LedgerError,
    MissingExtraError,
    OutputError,
    PolicyError,
    RoundStateError,
    SettingsError,
    SignatureError,
)

__all__ = ["guarded", "refusal_of", "told_on_stderr"]

_BY_ERROR: tuple[tuple[type[FedparityError], Refusal], ...] = (
    (SettingsError, Refusal.NOT_CONFIGURED),
    (ApprovalError, Refusal.NOT_APPROVED),
    (AnsweredError, Refusal.ANSWERED),
    (LedgerError, Refusal.ANSWERED),
    (DisclosureError, Refusal.RULE),
    (MissingExtraError, Refusal.SETUP),
    (KeyFileError, Refusal.SETUP),
    (SignatureError, Refusal.SETUP),
    (OutputError, Refusal.SETUP),
    (PolicyError, Refusal.SETUP),
    (RoundStateError, Refusal.SETUP),
    (DocumentError, Refusal.REQUEST),
)
"""The first class that fits decides; any other error on purpose is about the data."""


def guarded(
    silo: str,
    read: Callable[[], Request],
    work: Callable[[Request], bytes],
    tell: Callable[[str], None] | None = None,
) -> Reply:
    """Return what the work makes of the request, or the word for what was raised; raise only Ctrl-C.

    What went wrong is told to the silo's operator alone: in full if it was raised on purpose, since such
    errors hold no value of the data, and else by its kind and place. Under a privacy mode there is one
    word for all: "data not usable" would be an exact number of the data, outside any epsilon.

    Examples
    --------
    >>> from fedparity.protocol.plan import Plan
    >>> plan = Plan(title="Q4", groups=("A", "B"), score_range=(0, 1))
    >>> def work(request: Request) -> bytes:
    ...     raise RuntimeError("score 0.71 of patient 12")
    >>> request = Request(step="sketch", plan=plan)
    >>> guarded("aurora", lambda: request, work, tell=lambda line: None).refused
    <Refusal.FAILED: 'failed'>
    """
    tell = tell or told_on_stderr
    private = False
    try:
        request = read()
        private = request.plan.privacy is not None
        return Reply(silo=silo, message=work(request))
    except FedparityError as error:
        refused, reason = refusal_of(error), str(error)
    except KeyboardInterrupt:  # the operator's, who wants the process to end
        raise
    except BaseException as error:  # noqa: BLE001 -- an engine would send its text, a panic's too
        refused, reason = Refusal.FAILED, _place(error)
    with suppress(Exception):  # a log that cannot be written must not become the answer
        tell(f"{silo or 'this silo'} did not answer. error: {reason}")
    return Reply(silo=silo, refused=Refusal.NO_ANSWER if private else refused)


def refusal_of(error: FedparityError) -> Refusal:
    """Return the word for an error.

    Examples
    --------
    >>> refusal_of(LedgerError("sent before.", fix="send it again."))
    <Refusal.ANSWERED: 'answered before'>
    """
    found = (refusal for kind, refusal in _BY_ERROR if isinstance(error, kind))
    return next(found, Refusal.DATA)


def told_on_stderr(line: str) -> None:
    """Print a line where the operator's log is."""
    sys.stderr.write(f"fedparity: {line}\n")
    sys.stderr.flush()


def _place(error: BaseException) -> str:
    """What was raised and where, but not what it says: that may be somebody's data."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"an unexpected {type(error).__name__}{place}.\nfix: please report it."
