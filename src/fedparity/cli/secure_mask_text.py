"""What would leave a silo in a secure sum, in 80 columns; for its operator."""

from __future__ import annotations

from fedparity.cli.fitting import wrapped
from fedparity.protocol.plan import Plan
from fedparity.protocol.secure.checks import roster_of, secure_terms, threshold_of
from fedparity.protocol.secure.layout import Layout

__all__ = ["dry_run_text"]

_WORDS = {
    "counts": "records of each group in each bin",
    "totals": "records of each group",
    "lacking": "whether the silo lacks a group",
    "unselected": "histograms weighted by the silo's size",
    "parity": "the silo's pooled histogram, weighted by each group's size",
    "centers": "quantiles of each group, weighted by its size",
    "dropped": "rows without a score",
}


def dry_run_text(plan: Plan, silo: str, width: int = 80) -> str:
    """Return what is summed, what is seen, and by whom; no number of the table is in it."""
    layout, terms = Layout.of(plan), secure_terms(plan)
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
    lines += wrapped(
        f"Not protected: {threshold} or more silos together with the auditor could open this silo's "
        "own numbers" + (", with their noise." if terms.dose == "full" else "."),
        width,
    )
    return "\n".join(lines)


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
