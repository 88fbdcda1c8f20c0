"""The pages on engines name every setting, every word of refusal and every loss."""

from pathlib import Path

import pytest

from fedparity.engines.remote.conversation import Loss
from fedparity.engines.remote.requests import Refusal
from fedparity.engines.remote.settings import KEYS

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("key", KEYS)
def test_every_setting_is_in_the_reference(key):
    assert f"`{key}`" in (DOCS / "reference" / "engines.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("word", [*Refusal, *Loss], ids=lambda word: word.name)
def test_every_reason_is_in_the_how_to(word):
    page = (DOCS / "how-to" / "audit-with-flower.md").read_text(encoding="utf-8")

    assert word.value in page


def test_there_are_nine_words():
    page = (DOCS / "how-to" / "audit-with-flower.md").read_text(encoding="utf-8")

    assert ("one of nine words" in page) == (len(Refusal) == 9)
