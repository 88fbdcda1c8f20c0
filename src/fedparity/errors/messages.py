"""Messages of silos that are not what they should be, on their own or for their plan."""

from __future__ import annotations

from collections.abc import Collection

from fedparity.errors.base import listed
from fedparity.errors.protocol import DocumentError, shown

__all__ = ["RESEND", "MessageError", "SignatureError"]

RESEND = "ask the silo to run fedparity sketch again and to send the file as it was written."


class MessageError(DocumentError):
    """A silo's message that is not a valid sketch, or does not fit its plan."""

    @classmethod
    def unknown_fields(cls, where: str, names: Collection[str]) -> MessageError:
        return cls(
            f"{where} has unknown fields: {', '.join(shown(name) for name in list(names)[:5])}.",
            fix="update fedparity if the silo uses a newer version; else " + RESEND,
        )

    @classmethod
    def missing_fields(cls, where: str, names: Collection[str]) -> MessageError:
        return cls(f"{where} lacks {listed(names)}.", fix=RESEND)

    @classmethod
    def schema(cls, expected: str, found: object) -> MessageError:
        return cls(
            f"the message's schema must be {expected!r}, not {shown(found)}.",
            fix="check that the file is a sketch, and update fedparity if the silo's is newer.",
        )

    @classmethod
    def field(cls, name: str, expected: str, found: object) -> MessageError:
        """Refuse a field; its content is not printed: it might be a record's value."""
        return cls(
            f"{name} must be {expected}; a {type(found).__name__} came that is not.", fix=RESEND
        )

    @classmethod
    def group_twice(cls, group: object) -> MessageError:
        return cls(f"group {shown(group)} has two cells.", fix=RESEND)

    @classmethod
    def wrong_length(cls, group: object, values: int, levels: int) -> MessageError:
        return cls(
            f"the cell of group {shown(group)} says {levels:,} levels and holds {values:,} values.",
            fix=RESEND,
        )

    @classmethod
    def not_finite(cls, group: object) -> MessageError:
        return cls(f"a value of group {shown(group)} is not a finite number.", fix=RESEND)

    @classmethod
    def decreasing(cls, group: object, position: int) -> MessageError:
        return cls(
            f"the values of group {shown(group)} decrease after level {position}.", fix=RESEND
        )

    @classmethod
    def contradiction(cls, group: object, what: str) -> MessageError:
        return cls(f"the cell of group {shown(group)} {what}.", fix=RESEND)

    @classmethod
    def other_plan(cls, silo: str, found: str, expected: str) -> MessageError:
        return cls(
            f"silo {silo!r} answered another plan: {found}, not {expected}.",
            fix="send the silo this very plan file, unchanged, and ask for a new sketch.",
        )

    @classmethod
    def other_kind(cls, silo: str, found: str, expected: str) -> MessageError:
        return cls(
            f"silo {silo!r} sent {found} sketches, but the plan asks for {expected}.", fix=RESEND
        )

    @classmethod
    def other_groups(
        cls, silo: str, found: Collection[object], expected: Collection[object]
    ) -> MessageError:
        return cls(
            f"silo {silo!r} sent the groups {listed(found)}, but the plan has {listed(expected)}, "
            "in this order.",
            fix=RESEND,
        )

    @classmethod
    def too_many_levels(cls, silo: str, group: object, levels: int, most: int) -> MessageError:
        return cls(
            f"silo {silo!r} sent {levels:,} levels for group {group!r}, "
            f"but the plan allows {most:,}.",
            fix=RESEND,
        )

    @classmethod
    def outside_range(cls, silo: str, group: object, outside: int) -> MessageError:
        return cls(
            f"{outside:,} values of silo {silo!r}, group {group!r}, lie outside the plan's "
            "score range.",
            fix="check the score column of the silo, or the score_range of the plan.",
        )

    @classmethod
    def off_grid(cls, silo: str, group: object, off: int) -> MessageError:
        return cls(
            f"{off:,} values of silo {silo!r}, group {group!r}, are not scores that the plan's "
            "score_step leaves.",
            fix="check the score column of the silo, or the score_step of the plan.",
        )

    @classmethod
    def other_thresholds(cls, silo: str, group: object, found: int, expected: int) -> MessageError:
        return cls(
            f"silo {silo!r} sent counts at {found:,} thresholds for group {group!r}, but the plan "
            f"has {expected:,}.",
            fix=RESEND,
        )

    @classmethod
    def mean_square_too_large(cls, silo: str, group: object) -> MessageError:
        return cls(
            f"the mean square of silo {silo!r}, group {group!r}, is larger than any scores in the "
            "plan's score range have.",
            fix=RESEND,
        )

    @classmethod
    def other_bins(cls, silo: str, group: object, bins: int, expected: int) -> MessageError:
        return cls(
            f"silo {silo!r} sent {bins:,} bins for group {group!r}, but the plan has {expected:,}.",
            fix=RESEND,
        )

    @classmethod
    def below_minimum(cls, silo: str, group: object, minimum: int) -> MessageError:
        return cls(
            f"silo {silo!r} sent group {group!r} with a count below minimum_cell = {minimum}, "
            "which must be withheld.",
            fix=RESEND,
        )

    @classmethod
    def small_run(cls, silo: str, group: object, minimum: int) -> MessageError:
        return cls(
            f"silo {silo!r} sent counts of fewer than {minimum} records for group {group!r}, which "
            "must be merged with their neighbours.",
            fix=RESEND,
        )

    @classmethod
    def tells_dropped(cls, silo: str) -> MessageError:
        return cls(
            f"silo {silo!r} says how many rows it left out, an exact number that the plan's "
            "privacy mode keeps in the building.",
            fix=RESEND,
        )

    @classmethod
    def sketch_in_secure_mode(cls, silo: str) -> MessageError:
        return cls(
            f"silo {silo!r} sent a sketch of its own, but the plan asks for a secure sum.",
            fix="leave the file out, and collect the messages of fedparity secure.",
        )

    @classmethod
    def shows_empty(cls, silo: str, group: object, minimum: int) -> MessageError:
        return cls(
            f"silo {silo!r} says that it has no record of group {group!r}, but under "
            f"minimum_cell = {minimum} that must look like any small cell.",
            fix=RESEND,
        )

    @classmethod
    def not_in_roster(cls, silo: str, silos: Collection[str]) -> MessageError:
        return cls(
            f"silo {silo!r} is not among the {len(silos):,} silos of the plan.",
            fix=f"check the name the silo gave to --silo; the plan has {listed(silos)}.",
        )

    @classmethod
    def silo_twice(cls, silo: str) -> MessageError:
        return cls(
            f"silo {silo!r} sent two different messages.",
            fix="ask the silo which one is right, and leave the other out.",
        )

    @classmethod
    def same_twice(cls, silo: str) -> MessageError:
        return cls(
            f"the message of silo {silo!r} was given twice.", fix="give each file only once."
        )

    @classmethod
    def two_nodes(cls, silo: str) -> MessageError:
        return cls(
            f"two nodes answer as silo {silo!r}, so neither can be believed.",
            fix="find out which of them is the silo, stop the other, and ask with a new plan.",
        )

    @classmethod
    def not_the_silo(cls, found: str, expected: str) -> MessageError:
        return cls(
            f"a message of silo {shown(found)} came from the node of silo {shown(expected)}.",
            fix="correct silo in the settings of that node, or the name of its key.",
        )

    @classmethod
    def other_step(cls, silo: str, step: str) -> MessageError:
        return cls(f"silo {silo!r} was asked for its {step} and sent something else.", fix=RESEND)

    @classmethod
    def unknown_step(cls, step: str, known: Collection[str]) -> MessageError:
        return cls(
            f"{step[:40]!r} is not a step of an audit.",
            fix=f"update fedparity in the silo if the auditor's is newer; it knows {listed(known)}.",
        )

    @classmethod
    def empty_reply(cls, silo: str) -> MessageError:
        return cls(
            f"the reply of silo {shown(silo)} must hold either a message or a refusal.",
            fix="update fedparity in the silo.",
        )

    @classmethod
    def other_guarantee(
        cls, silo: str, name: str, found: object, expected: object
    ) -> MessageError:
        return cls(
            f"silo {silo!r} applied {name} = {shown(found)}, but the plan asks for "
            f"{shown(expected)}.",
            fix=RESEND,
        )


class SignatureError(MessageError):
    """A message that is not signed as its plan asks."""

    @classmethod
    def malformed(cls) -> SignatureError:
        return cls("the signature is not the base64 text of 64 bytes.", fix=RESEND)

    @classmethod
    def unsigned(cls, silo: str) -> SignatureError:
        return cls(
            f"the message of silo {silo!r} is not signed, but the plan has keys.",
            fix="ask the silo to run fedparity sketch with --sign.",
        )

    @classmethod
    def no_key(cls, silo: str) -> SignatureError:
        return cls(
            f"the plan has keys, but none for silo {silo!r}.",
            fix="add the silo's public key to [keys], and send the new plan to all silos.",
        )

    @classmethod
    def other_key(cls, silo: str, owner: str) -> SignatureError:
        return cls(
            f"the message of silo {silo!r} is signed with the key of silo {owner!r}.",
            fix="check which silo sent the file, and the two keys in the plan.",
        )

    @classmethod
    def mismatch(cls, silo: str) -> SignatureError:
        return cls(
            f"the signature of silo {silo!r} does not fit the message and the plan's key: the "
            "message was changed after it was signed, or signed with another key.",
            fix="check the silo's public key by another channel; then " + RESEND,
        )

    @classmethod
    def not_a_key(cls) -> SignatureError:
        return cls(
            "a public key must be the base64 text of 32 bytes.",
            fix="copy the key that fedparity keygen printed.",
        )
