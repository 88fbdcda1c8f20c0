"""A result file that was changed anywhere is refused as such, or shown: it is never a bug."""

import copy
import json
import random
from contextlib import suppress

import pytest
from tests.report_results import incomplete_result, plain_result
from tests.tiers import count

from fedparity.cli.audit_text import audit_text
from fedparity.documents.json_text import decode_object
from fedparity.documents.result import AuditResult
from fedparity.errors import FedparityError, ResultError
from fedparity.report.formats import FORMATS
from fedparity.report.notebook import notebook_html

VALUES = (
    *(None, True, False, 0, -1, 1, 7, 2**53 - 1, -0.0, 0.5, 1.0, -3.25, 1e308, -1e308, 1e-320),
    *("", "A", "B", "x", "\x1b[2J", "\u202e", "above", "none", "# title", "<b>", "A" * 3000),
    *([], {}, [1], [None, None], [1, 0], ["A"], ["A", "B"], [[]], {"A": 1}, {"": None}),
)


def places(document, path=()):
    """Every place of a document, as the path to it."""
    yield path
    if isinstance(document, dict):
        for key in document:
            yield from places(document[key], (*path, key))
    elif isinstance(document, list):
        for key in range(min(len(document), 6)):
            yield from places(document[key], (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def mutated(document, draw):
    """The document with one place changed in one of many ways; in place."""
    path = draw.choice([each for each in places(document) if each])
    holder, key = at(document, path[:-1]), path[-1]
    held = holder[key]
    way = draw.randrange(7)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(held, list):
        draw.shuffle(held)
    elif way == 2 and isinstance(held, list) and held:
        held.append(draw.choice(held))
    elif way == 3 and isinstance(held, list) and held:
        del held[draw.randrange(len(held))]
    elif way == 4 and isinstance(held, dict) and held:
        name = draw.choice(list(held))
        held[draw.choice(["", "A", "B", "x", name + " "])] = held.pop(name)
    elif way == 5:
        other = draw.choice([each for each in places(document) if each])
        holder[key] = copy.deepcopy(at(document, other))
    else:
        holder[key] = copy.deepcopy(draw.choice(VALUES))


def shown(result, formats):
    """Show a result in every way."""
    audit_text(result, details=True)
    notebook_html(result)
    for name in formats:
        FORMATS[name].render(result)


def survives(document, formats):
    """Whether a document is accepted; if it is, whatever is shown of it is shown."""
    with suppress(FedparityError):
        data = json.dumps(document).encode()
        shown(AuditResult.from_dict(decode_object(data, error=ResultError)), formats)
        return True
    return False


SAMPLES = {"plain": plain_result, "incomplete": incomplete_result}


def survivors(text, number, formats):
    """How many of so many changed documents are accepted, and shown."""
    accepted = 0
    for seed in range(number):
        draw = random.Random(seed)  # noqa: S311 -- the same cases on every run
        document = json.loads(text)
        for _ in range(draw.choice([1, 1, 1, 2, 3])):
            mutated(document, draw)
        accepted += survives(document, formats)
    return accepted


@pytest.mark.sampled
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_a_changed_result_is_refused_or_shown(sample):
    text = sample().with_rates(thresholds=[0.4], tails=[0.5]).to_json()
    number = count(quick=300, all=3_000, soak=100_000)

    assert 0 < survivors(text, number, ("markdown", "model-card")) < number


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_a_changed_result_is_refused_or_drawn(sample):
    pytest.importorskip("matplotlib", reason="fedparity[report] is not installed")
    text = sample().with_rates(thresholds=[0.4], tails=[0.5]).to_json()
    number = count(quick=20, all=200, soak=5_000)

    assert 0 < survivors(text, number, ("html",)) < number
