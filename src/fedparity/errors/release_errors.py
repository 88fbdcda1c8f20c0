"""Steps of a secure sum that are refused, and messages of it that are not what they should be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches

from fedparity.errors.base import FedparityError, InputError, listed
from fedparity.errors.document_errors import MessageError

__all__ = [
    "AnsweredError",
    "ApprovalError",
    "BudgetError",
    "DisclosureError",
    "LedgerError",
    "MissingSiloError",
    "PrivacyError",
    "RoundError",
    "RoundStateError",
    "RuleError",
    "SecureMessageError",
    "SettingsError",
]


class DisclosureError(FedparityError):
    """A disclosure rule refuses a release; the data themselves are fine."""


class RuleError(DisclosureError):
    """The silo's own policy refuses a plan, or what is to be released under it."""


class LedgerError(DisclosureError):
    """The local ledger refuses a second release, or cannot be relied on."""

    @classmethod
    def unreadable(cls, path: object, line: int, reason: str) -> LedgerError:
        return cls(
            f"line {line} of the ledger {path} {reason}.",
            fix="restore the file from a backup; without it, earlier releases cannot be known. See "
            "the how-to page on a lost ledger.",
        )

    @classmethod
    def out_of_reach(cls, path: object, reason: str) -> LedgerError:
        return cls(
            f"the ledger {path} cannot be opened or written: {reason}.",
            fix="make it readable and writable, or set FEDPARITY_LEDGER to the ledger's own file.",
        )


class PrivacyError(DisclosureError):
    """A privacy mode refuses a release, because it could not keep its promise."""

    @classmethod
    def epsilon_too_small(cls, epsilon: float, least: float) -> PrivacyError:
        return cls(
            f"epsilon = {epsilon:g} is below {least:g}, the least that noise is drawn for.",
            fix="agree on a plan with a larger epsilon; see fedparity plan privacy.",
        )

    @classmethod
    def sketch_in_secure_mode(cls, mode: str) -> PrivacyError:
        return cls(
            f"the plan's privacy mode is {mode!r}, in which a silo never sends a sketch of its own.",
            fix="follow the rounds of fedparity secure: keys, shares, mask, unmask.",
        )


class BudgetError(PrivacyError):
    """A release would cost more than what is left of a data set's budget."""


class SettingsError(InputError):
    """Settings of a silo that do not say what is to be read, or under which plan."""

    @classmethod
    def missing(cls, key: str, meaning: str) -> SettingsError:
        return cls(
            f"the settings of this silo lack {key!r} ({meaning}).",
            fix=f'add a line {key} = "..." to the file that is passed as --node-config.',
        )

    @classmethod
    def unknown(cls, key: str, known: Iterable[str]) -> SettingsError:
        near = get_close_matches(key, list(known), 1)
        hint = f"write {near[0]!r} instead" if near else f"use one of {', '.join(known)}"
        return cls(f"{key[:60]!r} is not a setting of a silo.", fix=f"{hint}, or remove it.")

    @classmethod
    def wrong(cls, key: str, expected: str) -> SettingsError:
        return cls(f"the setting {key!r} must be {expected}.", fix=f"correct {key}.")

    @classmethod
    def secret(cls) -> SettingsError:
        return cls(
            "the address in data holds a password, which every process here can see.",
            fix="write the address to a file of mode 600 and name that file in url-file.",
        )

    @classmethod
    def not_simulated(cls, what: str) -> SettingsError:
        return cls(
            f"this silo has no settings of its own, and the run simulates none: {what}.",
            fix="start the node with --node-config SILO.toml; or, for a simulation, start flwr run by "
            "fedparity engine flower start, with simulated-data in the run's configuration.",
        )


class ApprovalError(DisclosureError):
    """A plan that the operator of a silo has not agreed to."""

    @classmethod
    def other_plan(cls, found: str, approved: str) -> ApprovalError:
        return cls(
            f"the auditor asks for plan {found}, but this silo agreed to {approved}.",
            fix="read the new plan; if it is to be answered, change plan in this silo's settings.",
        )


class AnsweredError(DisclosureError):
    """A question that was answered before."""

    @classmethod
    def before(cls, silo: str, path: object) -> AnsweredError:
        return cls(
            f"silo {silo!r} has answered this plan before.",
            fix=f"to send the very same bytes once more ({path}), set again = true in the "
            "settings of this silo; for anything else a new plan is needed.",
        )


def reasons_given(reasons: Mapping[str, str], most: int = 8) -> str:
    """Return who did not answer and why, cut after ``most``.

    Examples
    --------
    >>> reasons_given({"bayside": "no answer in time"})
    "'bayside' (no answer in time)"
    """
    shown = [f"{silo!r} ({reason})" for silo, reason in reasons.items()]
    more = "" if len(shown) <= most else f" and {len(shown) - most} more"
    return ", ".join(shown[:most]) + more


class MissingSiloError(FedparityError):
    """A silo of the roster sent nothing, where it was required."""


SEND_AGAIN = "ask the silo to send the file again, as it was written."


class SecureMessageError(MessageError):
    """A message of a secure sum that is not valid, or does not fit the others."""

    @classmethod
    def not_secure(cls) -> SecureMessageError:
        return cls(
            "the plan does not ask for a secure sum.",
            fix='use fedparity sketch, or agree on a plan with [privacy] mode = "secure".',
        )

    @classmethod
    def missing(cls, what: str, silos: Collection[str]) -> SecureMessageError:
        return cls(
            f"the {what} of {len(silos):,} silos are missing: {listed(silos)}.",
            fix="wait for them; no data have left any silo yet. If one never arrives, write a new "
            "plan without it and start again.",
        )

    @classmethod
    def twice(cls, what: str, silo: str) -> SecureMessageError:
        return cls(
            f"silo {silo!r} has two different {what}.",
            fix="find out which one is right, and leave the other out.",
        )

    @classmethod
    def weak_key(cls, silo: str) -> SecureMessageError:
        return cls(
            f"the public key of silo {silo!r} cannot be used to agree on a secret.",
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
            f"the keys that were received for silo {silo!r} are not those that it published.",
            fix="do not go on: somebody replaced them. Compare the files by another channel.",
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
            fix=SEND_AGAIN,
        )

    @classmethod
    def too_few(cls, what: str, found: int, threshold: int) -> SecureMessageError:
        return cls(
            f"{found:,} {what} arrived, but {threshold:,} are needed; with fewer, nothing at all can be "
            "learned from what was sent.",
            fix="wait for more silos; if they never answer, start a new round under a new plan.",
        )

    @classmethod
    def nothing_came(cls, what: str) -> SecureMessageError:
        return cls(f"there is no {what}.", fix="name its file, or the folder it is in.")


class RoundError(DisclosureError):
    """A step of a secure sum that would reveal more than the sum."""

    @classmethod
    def not_yet(cls, step: str, before: str) -> RoundError:
        return cls(
            f"'{step}' comes after '{before}', which this silo has not sent in this round.",
            fix=f"run fedparity secure {before} first.",
        )

    @classmethod
    def second_request(cls, silo: str) -> RoundError:
        return cls(
            f"silo {silo!r} has already answered another unmask request; the two answers together "
            "could reveal a silo's own numbers.",
            fix="there is one request per round: inform the auditor that a second one arrived.",
        )

    @classmethod
    def left_out(cls, silo: str) -> RoundError:
        return cls(
            f"the request says that silo {silo!r} dropped out.",
            fix="do not answer: the silos that are listed can. Inform the auditor if the upload was "
            "made in time.",
        )

    @classmethod
    def not_in_round(cls, what: str) -> RoundError:
        return cls(
            f"the request belongs to another {what} than this round.",
            fix="do not answer; ask for the request of this round.",
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
