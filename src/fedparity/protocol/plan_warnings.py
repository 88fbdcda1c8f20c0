"""What a valid plan may not have meant to say."""

from __future__ import annotations

from fedparity.protocol.plan import Plan
from fedparity.protocol.score_settling import default_sketch

__all__ = ["plan_warnings"]


def plan_warnings(plan: Plan) -> tuple[str, ...]:
    """Return what its author should know of a plan that is obeyed as it is, one sentence each.

    Examples
    --------
    >>> plan = Plan(
    ...     title="Deciles", groups=("A", "B"), score_range=(1, 10), score_step=1, sketch="mean"
    ... )
    >>> print(*plan_warnings(plan))
    sketch = "mean" is obeyed, but scores have 10 points only: counts at each would be exact, so leave sketch out.
    """
    if plan.score_step is None or plan.sketch == "counts":
        return ()
    points = plan.score_points.size
    if default_sketch(points, plan.levels) != "counts":
        return ()
    words = f'sketch = "{plan.sketch}" is obeyed, but scores have {points:,} points only'
    return (f"{words}: counts at each would be exact, so leave sketch out.",)
