"""Policies of silos, for tests."""

from __future__ import annotations

import pytest

LENIENT = """\
schema = "fedparity/policy/1"
without_ledger = true
[floors]
minimum_cell = 1
records_per_level = 0
rounding_mean = 0
rounding_quantile = 0
levels = 100000
[epsilon]
release = 1000000
year = 1000000
[secure]
without_keys = true
unknown_silos = true
"""
"""A silo that leaves every rule to the plan, as one may whose data are made up."""


@pytest.fixture
def lenient_law(monkeypatch, tmp_path_factory):
    """Let a test run under the policy of such a silo."""
    path = tmp_path_factory.mktemp("law") / "policy.toml"
    path.write_text(LENIENT)
    monkeypatch.setenv("FEDPARITY_POLICY", str(path))
    return path
