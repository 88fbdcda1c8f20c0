"""Write the digests anew: ``python -m tests.golden.update [--keep FOLDER] [CASE ...]``.

With ``--keep``, every artifact is written to a folder as well, as it is and as it is compared: keep
one before a change and one after it, and ``diff -r`` shows what the change did. ``--look`` writes
no digests.
"""

from __future__ import annotations

import json
from pathlib import Path

import click
from tests.golden.digests import CASES, FILE, compared, digests_of, made_with


@click.command()
@click.argument("names", type=click.Choice(list(CASES)), nargs=-1)
@click.option("--keep", type=click.Path(path_type=Path), help="Write the artifacts to a folder.")
@click.option("--look", is_flag=True, help="Leave the digests as they are.")
def update(names: tuple[str, ...], keep: Path | None, *, look: bool) -> None:
    """Write the digests of all cases, or of some, anew."""
    known = json.loads(FILE.read_text("utf-8"))["digests"] if names else {}
    for name in names or CASES:
        artifacts = CASES[name]()
        known[name] = digests_of(artifacts)
        for artifact, text in artifacts.items() if keep else ():
            for kind, content in ("whole", text), ("compared", compared(artifact, text)):
                path = Path(str(keep), kind, name, artifact)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, "utf-8")
    if not look:
        document = {"made_with": made_with(), "digests": {name: known[name] for name in CASES}}
        FILE.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    update()
