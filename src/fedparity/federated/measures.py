"""All measures of one federation by one method, each computed once, when it is first needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fedparity.federated.decomposition import (
    Attribution,
    Decomposition,
    TriangleTerms,
    attribute,
    decompose,
)
from fedparity.federated.estimate import Estimate, Pair, estimate, pairs
from fedparity.federated.federation import Federation
from fedparity.federated.local_audits import LocalAudit, SiloInfluence, influences, local_audits
from fedparity.federated.mixtures import Method

__all__ = ["Measures"]


@dataclass(frozen=True, eq=False)
class Measures:
    """What an audit and its assessment read of the same federation."""

    federation: Federation
    method: Method

    @cached_property
    def estimate(self) -> Estimate:
        """The global disparity and heterogeneity."""
        return estimate(self.federation, self.method)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The distances between every two groups."""
        return pairs(self.federation, self.method)

    @cached_property
    def terms(self) -> Decomposition | TriangleTerms:
        """The terms of the decomposition."""
        return decompose(self.federation, self.method)

    @cached_property
    def attribution(self) -> Attribution:
        """The selection and within-silo parts."""
        return attribute(self.federation, self.method)

    @cached_property
    def influences(self) -> tuple[SiloInfluence, ...]:
        """What the disparity becomes without each silo."""
        return influences(self.federation, self.method)

    @cached_property
    def local(self) -> tuple[LocalAudit, ...]:
        """What each silo would see alone."""
        return local_audits(self.federation, self.method)
