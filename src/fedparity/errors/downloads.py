"""Files that cannot be had from where they are published."""

from __future__ import annotations

from fedparity.errors.base import FedparityError

__all__ = ["DownloadError"]


class DownloadError(FedparityError):
    """A file that cannot be downloaded, or came with other bytes than it should have."""

    @classmethod
    def unreachable(cls, url: str, reason: str) -> DownloadError:
        return cls(
            f"{url} cannot be reached ({reason}).",
            fix="check the connection; or copy the file from another machine and name its folder "
            "with --data or FEDPARITY_DATA.",
        )

    @classmethod
    def other_bytes(cls, url: str) -> DownloadError:
        return cls(
            f"{url} sent other bytes than those that are known by their sha256; nothing was kept.",
            fix="try again; if it stays so, the published file has changed: take a copy of the old "
            "one, and name its folder with --data or FEDPARITY_DATA.",
        )
