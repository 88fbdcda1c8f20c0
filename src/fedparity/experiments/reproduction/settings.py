"""How large a reproduction is, and its seeds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fedparity.errors import OptionError
from fedparity.experiments.montecarlo import LEVELS, SILOS

__all__ = ["Settings"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All that decides the numbers, besides the data and the version: valid once built."""

    seed: int = 0
    replicates: int = 200
    """Allocations of each regime and number of silos."""
    draws: int = 200
    """Allocations behind every table."""
    strengths: int = 50
    """Allocations of each strength of selection."""
    rho: float = 0.8
    silos: tuple[int, ...] = SILOS
    levels: tuple[int, ...] = LEVELS

    def __post_init__(self) -> None:
        for name, least in (("seed", 0), ("replicates", 2), ("draws", 2), ("strengths", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise OptionError(
                    f"{name} must be a whole number of at least {least}, not {value!r}.",
                    fix=f"pass {least} or more.",
                )

    @classmethod
    def of(cls, *, quick: bool = False, replicates: int | None = None, seed: int = 0) -> Settings:
        """Return the settings of a full reproduction, of a quick look, or of another size.

        Examples
        --------
        >>> Settings.of(quick=True).replicates, Settings.of(replicates=1000).strengths
        (10, 250)
        """
        if replicates is not None:
            return cls(
                seed=seed,
                replicates=replicates,
                draws=replicates,
                strengths=max(2, replicates // 4),
            )
        return cls(seed=seed, replicates=10, draws=30, strengths=8) if quick else cls(seed=seed)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        plain = asdict(self)
        return {name: list(v) if isinstance(v, tuple) else v for name, v in plain.items()}
