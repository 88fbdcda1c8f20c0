"""What the documents have in common: canonical bytes, a digest, and a file."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from fedparity.documents.files import Path, write_whole
from fedparity.documents.json_text import canonical_bytes, digest_of

__all__ = ["Document"]


class Document:
    """A plan, a message or a result; a subclass says what it is as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return the document as JSON holds it."""
        raise NotImplementedError  # pragma: no cover

    def to_bytes(self) -> bytes:
        """Return the canonical bytes of the document (RFC 8785)."""
        return canonical_bytes(self.to_dict())

    def unsigned_bytes(self) -> bytes:
        """Return the canonical bytes of the document without its signature."""
        document = self.to_dict()
        document.pop("signature", None)
        return canonical_bytes(document)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the canonical bytes without the signature."""
        return digest_of(self.unsigned_bytes())

    def file_bytes(self) -> bytes:
        """Return what a file of the document holds."""
        return self.to_bytes()

    def write(self, path: Path, *, force: bool = False) -> None:
        """Write the document to a file, whole or not at all.

        Raises
        ------
        OutputError
            If the file exists and ``force`` is not set, or if it cannot be written.
        """
        write_whole(path, self.file_bytes(), force=force)
