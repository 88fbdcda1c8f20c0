"""Plans, messages, results, reports and words are, byte for byte, what they were.

A difference that is meant is kept by ``python -m tests.golden.update``, after ``--look --keep FOLDER``
on both sides of the change showed what it is.
"""

import json

import pytest
from tests.awkward_words import found_in
from tests.golden.digests import CASES, FILE, compared, digests_of, made_with

KNOWN = json.loads(FILE.read_text("utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_it_is_what_it_was(name):
    made = CASES[name]()
    known, found = KNOWN["digests"][name], digests_of(made)

    different = [
        f"{name}: {artifact} {_how(artifact in known, artifact in found)}"
        for artifact in {**known, **found}
        if known.get(artifact) != found.get(artifact)
    ]

    assert not different, "\n".join([*different, *_other_versions()])
    assert not {artifact: words for artifact, text in made.items() if (words := found_in(text))}


def test_every_case_is_known():
    assert list(KNOWN["digests"]) == list(CASES)


def test_last_bits_and_drawings_are_not_compared():
    assert compared("a.json", '{"a": 0.12345678912}') == compared("a.json", '{"a": 0.12345678913}')
    assert compared("a.json", '{"a": 0.12345678}') != compared("a.json", '{"a": 0.12345679}')
    assert compared("a.html", "<p>a<svg x='1'><svg>b</svg>c</svg>d</p>") == "<p>abcd</p>"
    assert compared("message a.json", "0.12345678912") == "0.12345678912"


def _how(before, now):
    return "differs" if before and now else "is new" if now else "is gone"


def _other_versions():
    return [
        f"(made with {package} {version}, not {made_with()[package]})"
        for package, version in KNOWN["made_with"].items()
        if made_with()[package] != version
    ]
