"""What a silo must remember between the steps of a round: its secrets, and what it has sent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from fedparity.documents.fields import decode_base64, encode_base64
from fedparity.documents.json_text import canonical_bytes, decode_object
from fedparity.errors import RoundError, RoundStateError, SecureMessageError
from fedparity.modes.secure.masking import KEY_BYTES, new_secret
from fedparity.modes.secure.round_checks import decode_round
from fedparity.modes.secure.round_messages import SiloRoundMessage
from fedparity.modes.secure.shamir import SHARE_BYTES
from fedparity.privacy.ledger import locked

__all__ = [
    "SCHEMA",
    "HeldShares",
    "RoundState",
    "StateFile",
]

SCHEMA = "fedparity/secure-state/1"
_SECRETS = ("mask_secret", "share_secret", "seed")
_FIELDS = frozenset(("schema", "plan", "silo", *_SECRETS, "held", "sent"))


class HeldShares(NamedTuple):
    """The shares of another silo's two secrets that this silo stores."""

    seed: bytes
    key: bytes

    def __repr__(self) -> str:
        return "HeldShares(secret)"


@dataclass(frozen=True, kw_only=True, repr=False)
class RoundState:
    """One silo's side of one round; never printed, never sent.

    Every step returns a new state. It must be on disk before the step's message leaves: whoever
    forgets what was sent may send a second one.
    """

    plan: str
    silo: str
    mask_secret: bytes
    share_secret: bytes
    seed: bytes
    held: Mapping[str, HeldShares]
    """Shares of every silo, once they were opened."""
    sent: Mapping[str, SiloRoundMessage]
    """The message of each step that was made."""

    @classmethod
    def fresh(cls, plan: str, silo: str) -> RoundState:
        """Return the state of a new round, with secrets from the operating system."""
        return cls(
            plan=plan,
            silo=silo,
            mask_secret=new_secret(),
            share_secret=new_secret(),
            seed=new_secret(),
            held={},
            sent={},
        )

    def after(self, step: str, message: SiloRoundMessage) -> RoundState:
        """Return the state after a step."""
        return replace(self, sent={**self.sent, step: message})

    def without_secrets(self) -> RoundState:
        """Return the state of a round that is over for this silo: what was sent, and no secret.

        A later reader of the state cannot remove the masks from this silo's vector.
        """
        none = bytes(KEY_BYTES)
        return replace(self, mask_secret=none, share_secret=none, seed=none, held={})

    def refuse_again(self, step: str) -> None:
        """Raise if the step was made before.

        Raises
        ------
        RoundError
            If it was.
        """
        if step in self.sent:
            raise RoundError(
                f"silo {self.silo!r} has already sent its {step} in this round; a second one could reveal "
                "its numbers.",
                fix="send the same file again (--resend writes it again), or start a new round under a "
                "new plan.",
            )

    def need(self, step: str, before: str) -> SiloRoundMessage:
        """Return the message of the step before, or raise if it was not made."""
        if before not in self.sent:
            raise RoundError.not_yet(step, before)
        return self.sent[before]

    def sent_again(self, step: str) -> SiloRoundMessage:
        """Return the message of a step that was made, to be sent again."""
        if step not in self.sent:
            raise RoundError(
                f"silo {self.silo!r} has not sent its {step} yet, so it cannot be sent again.",
                fix="leave --resend out.",
            )
        return self.sent[step]

    def to_bytes(self) -> bytes:
        """Return the state for a file that only its owner may read."""
        document: dict[str, Any] = {"schema": SCHEMA, "plan": self.plan, "silo": self.silo}
        document |= {name: encode_base64(getattr(self, name)) for name in _SECRETS}
        document["held"] = {
            silo: [encode_base64(shares.seed), encode_base64(shares.key)]
            for silo, shares in self.held.items()
        }
        document["sent"] = {step: message.to_dict() for step, message in self.sent.items()}
        return canonical_bytes(document)

    @classmethod
    def from_bytes(cls, data: bytes, path: object) -> RoundState:
        """Return the state of a file.

        Raises
        ------
        RoundStateError
            If it is not one; nothing of what it holds is repeated.
        """
        try:
            return cls._of(decode_object(data))
        except (KeyError, TypeError, ValueError):  # errors of documents are ValueErrors too
            raise RoundStateError.unreadable(path, "it is damaged") from None

    @classmethod
    def _of(cls, document: Mapping[str, Any]) -> RoundState:
        if document.keys() != _FIELDS or document["schema"] != SCHEMA:
            raise ValueError("not a state")
        secrets = {name: _bytes(document[name], KEY_BYTES) for name in _SECRETS}
        held = {
            str(silo): HeldShares(_bytes(seed, SHARE_BYTES), _bytes(key, SHARE_BYTES))
            for silo, (seed, key) in document["held"].items()
        }
        sent = {str(step): _message(each) for step, each in document["sent"].items()}
        plan, silo = str(document["plan"]), str(document["silo"])
        return cls(plan=plan, silo=silo, held=held, sent=sent, **secrets)

    def __repr__(self) -> str:
        return f"RoundState({self.silo!r}, sent {', '.join(self.sent) or 'nothing'})"


def _bytes(text: str, size: int) -> bytes:
    data = decode_base64(text, size)
    if data is None:
        raise ValueError("not a secret")
    return data


def _message(document: Mapping[str, Any]) -> SiloRoundMessage:
    message = decode_round(canonical_bytes(document))
    if not isinstance(message, SiloRoundMessage):
        raise SecureMessageError.nothing_came("message of a silo")
    return message


_LARGEST = 64 * 2**20
_TRIES = 5


class StateFile:
    """Where a silo stores the state of one round; readable by its owner alone (0o600).

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = StateFile(Path(folder) / "aurora.state")
    ...     file.create(RoundState.fresh("sha256:" + 64 * "0", "aurora"))
    ...     with file.held() as state:
    ...         state
    RoundState('aurora', sent nothing)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def create(self, state: RoundState) -> None:
        """Write the state of a new round.

        Raises
        ------
        RoundStateError
            If there is a state already, or the file cannot be written.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(self.path, flags, 0o600)
        except FileExistsError:
            raise RoundStateError.exists(self.path) from None
        except OSError as problem:
            raise self._unusable(problem) from None
        self._fill(descriptor, state.to_bytes())
        self._sync_folder()

    @contextmanager
    def held(self) -> Iterator[RoundState]:
        """Give the state to one process at a time, so that no step is made twice at once.

        Raises
        ------
        RoundStateError
            If there is no state, or it is damaged.
        """
        for _ in range(_TRIES):
            descriptor = self._open()
            try:
                with locked(descriptor, self.path):
                    if not self._current(descriptor):  # replaced while we waited
                        continue
                    with os.fdopen(os.dup(descriptor), "rb") as file:
                        yield RoundState.from_bytes(file.read(_LARGEST), self.path)
                    return
            finally:
                os.close(descriptor)
        raise RoundStateError.unreadable(self.path, "other processes keep changing it")

    def replace(self, state: RoundState) -> None:
        """Replace the state, in one step and durably; only while it is :meth:`held`."""
        from tempfile import mkstemp  # noqa: PLC0415 -- 9 ms at start otherwise

        try:
            descriptor, temporary = mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            self._fill(descriptor, state.to_bytes())
            os.replace(temporary, self.path)  # noqa: PTH105
        except OSError as problem:
            raise self._unusable(problem) from None
        self._sync_folder()

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDWR | getattr(os, "O_BINARY", 0))
        except FileNotFoundError:
            raise RoundStateError.missing(self.path) from None
        except OSError as problem:
            raise self._unusable(problem) from None

    def _current(self, descriptor: int) -> bool:
        """Whether the file that was opened is still the one of this name."""
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False

    def _fill(self, descriptor: int, data: bytes) -> None:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def _sync_folder(self) -> None:
        """Make the file's name survive a crash too, where folders can be opened."""
        if os.name == "nt":
            return
        descriptor = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _unusable(self, problem: OSError) -> RoundStateError:
        return RoundStateError.unreadable(self.path, problem.strerror or type(problem).__name__)
