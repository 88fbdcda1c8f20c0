"""What an audit does not prove, and how to make it again."""

from __future__ import annotations

from fedparity.auditing.result import AuditResult

__all__ = ["does_not_prove", "reproduce_command"]


def does_not_prove() -> tuple[str, ...]:
    """Return what a reader may not conclude."""
    return (
        (
            "A disparity is a measurement, not a judgment: it does not say that a difference is "
            "unjustified, nor that equal distributions of scores are just."
        ),
        (
            "A value below the review level is no seal of approval: it says nothing of errors, "
            "calibration or outcomes, and nothing of thresholds but those that were asked for."
        ),
        "Parts and terms describe a measure. They name no cause, and no one to blame.",
        (
            "It holds for the records, groups and scores that the silos described, and for no other; "
            "that the silos followed the plan is theirs to answer for."
        ),
        "The review level is a choice of whoever wrote the plan, not a finding.",
    )


def reproduce_command(result: AuditResult) -> str:
    """Return the command that makes the same result from the same plan and messages.

    The plan is the file with the digest ``result.plan.digest``; ``plan.toml`` and ``inbox`` stand
    for wherever the plan and the messages are.
    """
    words = ["fedparity audit plan.toml inbox"]
    if result.confidence != 0.95:
        words.append(f"--confidence {result.confidence!r}")
    if result.seed:
        words.append(f"--seed {result.seed}")
    pooled = any(warning.code == "pooled_redraws" for warning in result.warnings)
    if not pooled:  # such redraws are made only where their number is not given
        words.append(f"--redraws {result.redraws}")
    return " ".join([*words, "-o result.json"])
