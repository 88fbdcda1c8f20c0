"""What holds for every test, and for every example in a docstring."""

import os
import tempfile

import pytest

pytest_plugins = ["tests.laws", "tests.third_party", "tests.tiers"]

os.environ |= {  # for fixtures that live longer than a test
    "FEDPARITY_LEDGER": f"{tempfile.mkdtemp()}/ledger.jsonl",
    "XDG_CONFIG_HOME": tempfile.mkdtemp(),
}
os.environ.pop("FEDPARITY_POLICY", None)


@pytest.fixture(autouse=True)
def _own_ledger(monkeypatch, tmp_path_factory):
    """Give each test a ledger of its own: what one test releases is nothing to the next."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("FEDPARITY_LEDGER", str(folder / "ledger.jsonl"))
