"""Documents that travel between the auditor and the silos: plans, keys, files written and read."""

from __future__ import annotations

import reprlib
from collections.abc import Collection

from fedparity.errors.base import InputError, listed

__all__ = [
    "RESEND",
    "DocumentError",
    "KeyFileError",
    "MessageError",
    "OutputError",
    "PartError",
    "PlanError",
    "PolicyError",
    "ResultError",
    "SignatureError",
    "shown",
]

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_SHORT.maxlevel = 2


def shown(value: object) -> str:
    """Return a shortened text of a document's value, which may have a million characters."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python does not print an integer of more than 4,300 digits
        return "a number of thousands of digits"


class DocumentError(InputError):
    """A file that cannot be read, or is not the document it should be."""

    @classmethod
    def unreadable(cls, name: str, reason: str) -> DocumentError:
        return cls(
            f"{name} cannot be read: {reason}.",
            fix="check the path, and that it is a file this account may read.",
        )

    @classmethod
    def too_large(cls, limit: int) -> DocumentError:
        return cls(
            f"the document is larger than {limit:,} bytes.",
            fix="check that it is the right file; a plan or a sketch is far smaller.",
        )

    @classmethod
    def too_deep(cls, limit: int) -> DocumentError:
        return cls(
            f"the document nests lists and tables more than {limit} deep.",
            fix="check that it is the right file; a plan or a sketch is nearly flat.",
        )

    @classmethod
    def too_many(cls, what: str, limit: int) -> DocumentError:
        return cls(
            f"the document holds more than {limit:,} {what}.",
            fix="check that it is the right file; a plan or a sketch holds fewer.",
        )

    @classmethod
    def not_utf8(cls, position: int) -> DocumentError:
        return cls(
            f"the document is not UTF-8 text: byte {position:,} does not fit.",
            fix="send the file as it was written, as an attachment or in binary mode.",
        )

    @classmethod
    def duplicate_field(cls, name: str) -> DocumentError:
        return cls(
            f"a JSON object has the field {shown(name)} twice.",
            fix="send the file as it was written; two readers could read it differently.",
        )

    @classmethod
    def not_a_number(cls) -> DocumentError:
        return cls(
            "the document holds NaN or an infinity, which JSON does not have.",
            fix="write the file with fedparity; every number in it is finite.",
        )

    @classmethod
    def number_too_large(cls) -> DocumentError:
        return cls(
            "the document holds a number too large to be kept exactly.",
            fix="keep whole numbers within ±(2^53 - 1), and others within a 64-bit float.",
        )

    @classmethod
    def lone_surrogate(cls) -> DocumentError:
        return cls(
            "a text holds half a character (a lone surrogate), which UTF-8 cannot write.",
            fix="write the name again with whole characters.",
        )

    @classmethod
    def not_canonical(cls, kind: type) -> DocumentError:
        return cls(
            f"a value of type {kind.__name__} has no JSON form.",
            fix="pass text, finite numbers, booleans, None, and lists and mappings of them.",
        )

    def within(self, name: str) -> DocumentError:
        """Return the same error, with the name of the file it is in."""
        return type(self)(f"{name}: {self.message}", fix=self.fix)


class PlanError(DocumentError):
    """A plan that says something it may not, or leaves out what it must say."""

    @classmethod
    def wrong(cls, key: str, expected: str, value: object, *, fix: str) -> PlanError:
        return cls(f"{key} must be {expected}, not {shown(value)}.", fix=fix)

    @classmethod
    def missing_key(cls, key: str, example: str) -> PlanError:
        return cls(f"the plan has no {key}.", fix=f"add a line such as {example}.")

    @classmethod
    def too_many_values(cls, groups: int, levels: int, most: int) -> PlanError:
        return cls(
            f"a message of {groups} groups and {levels:,} levels would hold more than "
            f"{most:,} values.",
            fix="lower levels, or use fewer groups.",
        )

    @classmethod
    def no_histograms(cls) -> PlanError:
        return cls(
            "the plan has no [privacy] table, so silos count no histograms.",
            fix='add [privacy] with mode = "dp", say.',
        )


class PolicyError(DocumentError):
    """A silo's policy that says something it may not, or cannot be read."""


class OutputError(InputError):
    """A file that cannot be written, or must not be overwritten."""

    @classmethod
    def exists(cls, name: str) -> OutputError:
        return cls(
            f"{name} exists already.",
            fix="choose another name, or pass --force (overwrite=True) to replace it.",
        )

    @classmethod
    def key_exists(cls, name: str) -> OutputError:
        return cls(
            f"{name} exists already, and a key is never overwritten.",
            fix="choose another name, or move the old key away first.",
        )

    @classmethod
    def unwritable(cls, name: str, reason: str) -> OutputError:
        return cls(
            f"{name} cannot be written: {reason}.",
            fix="check that the folder exists and that this account may write to it.",
        )


class KeyFileError(InputError):
    """A file that does not hold a private key to sign with."""

    @classmethod
    def unreadable(cls, name: str, reason: str) -> KeyFileError:
        return cls(f"the key {name} cannot be read: {reason}.", fix="check the path of the key.")

    @classmethod
    def not_a_key(cls, name: str) -> KeyFileError:
        return cls(
            f"{name} does not hold an Ed25519 private key in PEM.",
            fix="make one with fedparity keygen.",
        )


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
            fix="give the messages of the silos only, such as *.sketch.json; update fedparity if a silo's is newer.",
        )

    @classmethod
    def field(cls, name: str, expected: str, found: object) -> MessageError:
        """Refuse a field; its content is not printed: it might be a record's value."""
        return cls(
            f"{name} must be {expected}; the value found, of type {type(found).__name__}, is not.",
            fix=RESEND,
        )

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
    def contradiction(cls, group: object, what: str) -> MessageError:
        return cls(f"the cell of group {shown(group)} {what}.", fix=RESEND)

    @classmethod
    def other_plan(cls, silo: str, found: str, expected: str) -> MessageError:
        return cls(
            f"silo {silo!r} answered another plan: {found}, not {expected}.",
            fix="send the silo this plan file, unchanged, and ask for a new sketch.",
        )

    @classmethod
    def below_minimum(cls, silo: str, group: object, minimum: int) -> MessageError:
        return cls(
            f"silo {silo!r} sent group {group!r} with a count below minimum_cell = {minimum}, "
            "which must be withheld.",
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
    def not_the_silo(cls, found: str, expected: str) -> MessageError:
        return cls(
            f"a message of silo {shown(found)} arrived from the node of silo {shown(expected)}.",
            fix="correct silo in the settings of that node, or the name of its key.",
        )


class SignatureError(MessageError):
    """A message that is not signed as its plan requires."""

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
    def mismatch(cls, silo: str) -> SignatureError:
        return cls(
            f"the signature of silo {silo!r} does not fit the message and the plan's key: the "
            "message was changed after it was signed, or signed with another key.",
            fix="check the silo's public key by another channel; then " + RESEND,
        )


class ResultError(DocumentError):
    """A document that is not an audit's result, or a result that lacks what was requested."""

    @classmethod
    def schema(cls, expected: str, found: object) -> ResultError:
        return cls(
            f"a result has the schema {expected!r}, not {shown(found)}.",
            fix="pass the JSON that fedparity audit or simulate wrote, of this major version.",
        )

    @classmethod
    def field(cls, where: str, expected: str, found: object) -> ResultError:
        return cls(
            f"{where} of the result must be {expected}, not {shown(found)}.",
            fix="pass the file as fedparity wrote it.",
        )

    @classmethod
    def fields(cls, where: str, unknown: Collection[str], missing: Collection[str]) -> ResultError:
        wrong = f"has the unknown fields {listed(unknown)}" if unknown else ""
        lacks = f"lacks the fields {listed(missing)}" if missing else ""
        return cls(
            f"{where} of the result {' and '.join(filter(None, (wrong, lacks)))}.",
            fix="pass the file as fedparity wrote it, read by the version that wrote it or a later.",
        )

    @classmethod
    def no_frames(cls) -> ResultError:
        return cls(
            "a table needs pandas, polars or pyarrow, and none of them is installed.",
            fix="pip install 'fedparity[io]'",
        )


class PartError(InputError, KeyError):
    """A silo, a group or a threshold that a document does not have."""

    __str__ = InputError.__str__  # that of KeyError would quote the sentence
