"""What the page may do: run its own script, use its own style, and nothing else."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

__all__ = ["content_policy"]


def content_policy(*, style: str, script: str) -> str:
    """Return the Content-Security-Policy under which exactly these two texts are used.

    Nothing is fetched, framed, sent or based elsewhere, no attribute holds style or script, and
    no text becomes markup (Trusted Types). Saving the result needs none of it: a link to a
    ``blob:`` is followed, not fetched.

    Examples
    --------
    >>> content_policy(style="p {}", script="").split("; ")[:2]
    ["default-src 'none'", "script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"]
    """
    rules = (
        "default-src 'none'",
        f"script-src {_source(script)}",
        f"style-src {_source(style)}",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
    return "; ".join(rules)


def _source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
