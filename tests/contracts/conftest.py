"""Every contract holds under a policy: here that of a silo that leaves the rules to the plan."""

import pytest


@pytest.fixture(autouse=True)
def _under_a_policy(lenient_law):
    return lenient_law
