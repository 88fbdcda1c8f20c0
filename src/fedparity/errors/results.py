"""Results of an audit that cannot be read, or do not hold what is asked of them."""

from __future__ import annotations

from collections.abc import Collection

from fedparity.errors.base import listed
from fedparity.errors.protocol import DocumentError, shown

__all__ = ["ResultError"]


class ResultError(DocumentError):
    """A document that is not an audit's result, or a result without what is asked of it."""

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
    def disagrees(cls, where: str, expected: str) -> ResultError:
        return cls(
            f"{where} of the result must be {expected}; the file was changed.",
            fix="pass the file as fedparity wrote it.",
        )

    @classmethod
    def without_sketches(cls) -> ResultError:
        return cls(
            "this result was read from a file, which does not hold the sketches.",
            fix="run the audit again from the messages, and ask its result.",
        )

    @classmethod
    def no_frames(cls) -> ResultError:
        return cls(
            "a table needs pandas, polars or pyarrow, and none of them is installed.",
            fix="pip install 'fedparity[io]'",
        )
