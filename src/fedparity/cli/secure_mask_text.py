"""What would leave a silo in a secure sum, in 80 columns; for its operator."""

from __future__ import annotations

from fedparity.cli.fitting import wrapped
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import (
    colluders_of,
    roster_of,
    secure_terms,
    threshold_of,
)
from fedparity.protocol.secure.layout import Layout

__all__ = ["dry_run_text", "unprotected"]

_WORDS = {
    "counts": "records of each group in each bin",
    "dropped": "rows without a score",
}


def dry_run_text(plan: Plan, silo: str, width: int = 80) -> str:
    """Return what is summed, what is seen, and by whom; no number of the table is in it."""
    layout = Layout.of(plan)
    silos, threshold = len(roster_of(plan)), threshold_of(plan)
    lines = [
        *wrapped(f"{silo}: what would leave under “{plan.title}”", width),
        "",
        *wrapped(
            f"{layout.length:,} numbers of 64 bits, each hidden by masks; alone they are random. "
            f"Added up over the silos ({threshold} of {silos} at least), the masks cancel:",
            width,
        ),
    ]
    for name, shape in layout.shapes.items():
        size = " x ".join(f"{number:,}" for number in shape)
        lines += wrapped(f"{_WORDS[name]} ({size})", width, first="  - ", rest="    ")
    lines += ["", *wrapped(_noise_words(plan), width), ""]
    lines += wrapped(unprotected(plan), width)
    return "\n".join(lines)


def unprotected(plan: Plan) -> str:
    """Return who could see more than the sum."""
    terms, opening = secure_terms(plan), colluders_of(plan)
    own = "own numbers, with their noise" if terms.dose == "full" else "own numbers"
    words = (
        f"Not protected: {opening} or more of the other silos together with the auditor could see "
        f"this silo's {own}; fewer of them, the sum of the silos that do not join in."
    )
    if plan.keys:
        return words
    return (
        f"{words} The plan has no [keys]: whoever carries the messages could put keys in between and "
        f"see this silo's {own}, without any other silo."
    )


def _noise_words(plan: Plan) -> str:
    terms = secure_terms(plan)
    if terms.epsilon is None:
        return "No noise is added: the sums are exact."
    if terms.dose == "split":
        return (
            f"Noise is added first: this silo's part of one dose, epsilon = {terms.epsilon:g}, which "
            f"{terms.honest} silos together make."
        )
    return f"Noise is added first: a full dose of this silo, epsilon = {terms.epsilon:g}."
