"""Steps of a secure sum that are refused, and messages of it that are not what they should be."""

from __future__ import annotations

from collections.abc import Collection

from fedparity.errors.base import InputError, listed
from fedparity.errors.disclosure import DisclosureError
from fedparity.errors.messages import MessageError

__all__ = ["RoundError", "RoundStateError", "SecureMessageError"]

_AGAIN = "ask the silo to send the file again, as it was written."


class SecureMessageError(MessageError):
    """A message of a secure sum that is not valid, or does not fit the others."""

    @classmethod
    def unknown_schema(cls, found: object, known: Collection[str]) -> SecureMessageError:
        return cls(
            f"a message of a secure sum was expected, but the schema is {str(found)[:60]!r}.",
            fix=f"give files whose schema is one of {', '.join(known)}.",
        )

    @classmethod
    def not_secure(cls) -> SecureMessageError:
        return cls(
            "the plan does not ask for a secure sum.",
            fix='use fedparity sketch, or agree on a plan with [privacy] mode = "secure".',
        )

    @classmethod
    def a_sketch(cls, silo: str) -> SecureMessageError:
        return cls(
            f"silo {silo!r} sent a sketch of its own, but the plan asks for a secure sum.",
            fix="ask the silo to follow the steps of fedparity secure.",
        )

    @classmethod
    def missing(cls, what: str, silos: Collection[str]) -> SecureMessageError:
        return cls(
            f"the {what} of {len(silos):,} silos are missing: {listed(silos)}.",
            fix="wait for them; nothing of any table has left yet. If one never comes, write a new "
            "plan without it and start again.",
        )

    @classmethod
    def twice(cls, what: str, silo: str) -> SecureMessageError:
        return cls(
            f"silo {silo!r} has two different {what}.",
            fix="find out which one is right, and leave the other out.",
        )

    @classmethod
    def same_key(cls, first: str, second: str) -> SecureMessageError:
        return cls(
            f"silos {first!r} and {second!r} have published the same key.",
            fix="ask both to start again with fedparity secure keys, each in its own building.",
        )

    @classmethod
    def weak_key(cls, silo: str) -> SecureMessageError:
        return cls(
            f"the public key of silo {silo!r} is one with which no secret can be agreed on.",
            fix="ask the silo to start again with fedparity secure keys.",
        )

    @classmethod
    def other_set(cls, silo: str, what: str) -> SecureMessageError:
        return cls(
            f"the message of silo {silo!r} belongs to another set of {what}: it is of an earlier "
            "round, or somebody was given different files.",
            fix="compare the digests of the files by another channel; all silos need the same ones.",
        )

    @classmethod
    def own_keys_changed(cls, silo: str) -> SecureMessageError:
        return cls(
            f"the keys that came for silo {silo!r} are not those that it published.",
            fix="do not go on: somebody replaced them. Compare the files by another channel.",
        )

    @classmethod
    def other_recipients(cls, silo: str) -> SecureMessageError:
        return cls(
            f"the shares of silo {silo!r} are not for the silos of the plan.",
            fix=_AGAIN,
        )

    @classmethod
    def unreadable_share(cls, sender: str, recipient: str) -> SecureMessageError:
        return cls(
            f"the share of silo {sender!r} for {recipient!r} was changed on its way, or sealed for "
            "somebody else.",
            fix=f"compare the digest of the file with silo {sender!r}; nothing of this table has left.",
        )

    @classmethod
    def tampered_share(cls, answering: str, owner: str) -> SecureMessageError:
        return cls(
            f"silo {answering!r} answered with a share of silo {owner!r} that is not the one it was "
            "given.",
            fix="leave its answer out if enough others remain, and ask what happened.",
        )

    @classmethod
    def wrong_secret(cls, owner: str) -> SecureMessageError:
        return cls(
            f"the shares of silo {owner!r} do not give the secret that it committed to: its shares "
            "never fitted together.",
            fix="the sum cannot be opened; start a new round, and ask this silo what happened.",
        )

    @classmethod
    def wrong_size(cls, silo: str, found: int, expected: int) -> SecureMessageError:
        return cls(
            f"the masked vector of silo {silo!r} has {found:,} numbers, not {expected:,}.",
            fix=_AGAIN,
        )

    @classmethod
    def too_few(cls, what: str, found: int, threshold: int) -> SecureMessageError:
        return cls(
            f"{found:,} {what} came, but {threshold:,} are needed; with fewer, nothing at all can be "
            "learned from what was sent.",
            fix="wait for more silos; if they never come, start a new round under a new plan.",
        )

    @classmethod
    def nothing_came(cls, what: str) -> SecureMessageError:
        return cls(f"there is no {what}.", fix="name its file, or the folder it is in.")

    @classmethod
    def other_request(cls, silo: str) -> SecureMessageError:
        return cls(
            f"silo {silo!r} answered another request than the one given.",
            fix="audit with the request that was answered: there is one per round.",
        )

    @classmethod
    def other_lists(cls, silo: str) -> SecureMessageError:
        return cls(
            f"the answer of silo {silo!r} is not about the silos of the request.", fix=_AGAIN
        )

    @classmethod
    def other_upload(cls, silo: str) -> SecureMessageError:
        return cls(
            f"the masked vector of silo {silo!r} is not the one that the request names.",
            fix="audit with the files that were there when the request was written.",
        )


class RoundError(DisclosureError):
    """A step of a secure sum that would reveal more than the sum."""

    @classmethod
    def done_before(cls, step: str, silo: str) -> RoundError:
        return cls(
            f"silo {silo!r} has already sent its {step} in this round; a second one could reveal "
            "its numbers.",
            fix="send the same file again (--resend writes it again), or start a new round under a "
            "new plan.",
        )

    @classmethod
    def nothing_to_resend(cls, step: str, silo: str) -> RoundError:
        return cls(
            f"silo {silo!r} has not sent its {step} yet, so it cannot be sent again.",
            fix="leave --resend out.",
        )

    @classmethod
    def not_yet(cls, step: str, before: str) -> RoundError:
        return cls(
            f"the {step} come after the {before}, which this round has not sent.",
            fix=f"run fedparity secure {before} first.",
        )

    @classmethod
    def second_request(cls, silo: str) -> RoundError:
        return cls(
            f"silo {silo!r} has already answered another unmask request; the two answers together "
            "could reveal a silo's own numbers.",
            fix="there is one request per round: tell the auditor that a second one came.",
        )

    @classmethod
    def too_few_survivors(cls, listed_silos: int, threshold: int) -> RoundError:
        return cls(
            f"the request would open the sum of {listed_silos:,} silos; the plan's threshold is "
            f"{threshold:,}.",
            fix="do not answer; the auditor has to wait for more silos, or start again.",
        )

    @classmethod
    def left_out(cls, silo: str) -> RoundError:
        return cls(
            f"the request says that silo {silo!r} dropped out.",
            fix="do not answer: the silos that are listed can. Tell the auditor if the upload was "
            "made in time.",
        )

    @classmethod
    def not_my_upload(cls, silo: str) -> RoundError:
        return cls(
            f"the request names another masked vector of silo {silo!r} than the one it sent.",
            fix="do not answer; compare the digest of the file with the auditor's by another channel.",
        )

    @classmethod
    def not_in_round(cls, what: str) -> RoundError:
        return cls(
            f"the request belongs to another {what} than this round.",
            fix="do not answer; ask for the request of this round.",
        )

    @classmethod
    def too_few_consents(cls, found: int, threshold: int) -> RoundError:
        return cls(
            f"{found:,} silos have signed this very list of survivors; {threshold:,} are needed "
            "before anyone answers.",
            fix="collect the other silos' consents (fedparity secure consent) and try again.",
        )


class RoundStateError(InputError):
    """The secret state of a silo's round that is missing, damaged, or of another round."""

    @classmethod
    def missing(cls, path: object) -> RoundStateError:
        return cls(
            f"there is no state of a round at {path}.",
            fix="run fedparity secure keys first, or name the file with --state.",
        )

    @classmethod
    def exists(cls, path: object) -> RoundStateError:
        return cls(
            f"{path} holds the state of a round.",
            fix="go on with it; to start another round, name another file with --state.",
        )

    @classmethod
    def unreadable(cls, path: object, reason: str) -> RoundStateError:
        return cls(
            f"the state of the round at {path} cannot be used: {reason}.",
            fix="restore the file; without it the round goes on without this silo.",
        )

    @classmethod
    def other_plan(cls, path: object) -> RoundStateError:
        return cls(
            f"{path} holds the state of a round under another plan, or of another silo.",
            fix="name the state file of this round with --state.",
        )
