"""Plans, messages and their canonical bytes: what is written is read, what is changed is refused."""

import json
import struct
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import pytest
from benchmarks.fuzz import (
    Samples,
    change_bytes,
    change_document,
    examine_message,
    examine_plan,
    fuzz,
)
from hypothesis import given
from hypothesis import strategies as st
from tests.protocol_strategies import documents, finite, messages, plans
from tests.strategies import half
from tests.tiers import count, examples

from fedparity import Plan, SiloSketch
from fedparity.documents import SketchedCell, check_message, check_plan
from fedparity.documents.json_text import canonical_bytes, decode_object, number_text
from fedparity.documents.signing import generate_key, public_text, sign
from fedparity.errors import MessageError

any_bits = st.integers(0, 2**64 - 1).map(
    lambda bits: struct.unpack("<d", bits.to_bytes(8, "little"))[0]
)
"""Floats with every pattern of bits alike, rather than human ones."""

EXACT = Context(prec=2000, Emax=9999, Emin=-9999)
SAMPLES = Samples()
KEY = generate_key()


def as_ecmascript(number):
    """ECMAScript's Number::toString, from its definition and decimal arithmetic."""
    if number == 0:
        return "0"
    if number < 0:
        return "-" + as_ecmascript(-number)
    exact = Decimal(number)
    for places in range(1, 18):
        unit = Decimal((0, (1,), exact.adjusted() + 1 - places))
        near = [exact.quantize(unit, way, EXACT) for way in (ROUND_FLOOR, ROUND_CEILING)]
        fitting = [decimal for decimal in near if float(decimal) == number]
        if fitting:
            break
    shortest = min(
        fitting,
        key=lambda decimal: (
            EXACT.abs(EXACT.subtract(decimal, exact)),
            decimal.as_tuple()[1][-1] % 2,
        ),
    )
    _, digits, exponent = shortest.normalize(EXACT).as_tuple()
    s, k, n = "".join(map(str, digits)), len(digits), len(digits) + exponent
    if k <= n <= 21:
        return s + "0" * (n - k)
    if 0 < n <= 21:
        return s[:n] + "." + s[n:]
    if -6 < n <= 0:
        return "0." + "0" * -n + s
    sign_and_exponent = f"{'+' if n > 0 else '-'}{abs(n - 1)}"
    return (s if k == 1 else s[0] + "." + s[1:]) + "e" + sign_and_exponent


CHANGED = count(quick=1500, all=3000, soak=200_000)
"""Plans and messages to change."""

# -- canonical JSON ----------------------------------------------------------------------------


@examples(500)
@given(finite | any_bits.filter(lambda x: x - x == 0))
def test_numbers_are_written_as_ecmascript_does(number):
    assert number_text(number) == as_ecmascript(number)


@given(st.lists(finite | st.sampled_from([0.0, -0.0, 1.0, 100.0, 1e16, 1e-5]), min_size=1))
def test_many_numbers_are_written_like_each(numbers):
    assert canonical_bytes(numbers) == ("[" + ",".join(map(number_text, numbers)) + "]").encode()


def loads(data):
    """The document, its numbers as ECMAScript reads them: beyond 2^53 they are floats."""
    return json.loads(
        data, parse_int=lambda text: int(text) if abs(int(text)) < 2**53 else float(text)
    )


@given(documents)
def test_canonical_bytes_read_back_as_the_same_document(document):
    assert loads(canonical_bytes(document)) == document


@given(documents)
def test_canonical_bytes_are_their_own_canonical_form(document):
    data = canonical_bytes(document)

    assert canonical_bytes(loads(data)) == data


@given(st.lists(finite | st.floats(2**53, 1e21)))
def test_numbers_of_any_size_are_read_as_they_were_written(numbers):
    assert decode_object(canonical_bytes({"a": numbers})) == {"a": numbers}


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 9), max_size=6), st.randoms())
def test_the_order_of_members_does_not_matter(members, random):
    names = list(members)
    random.shuffle(names)

    try:
        expected = canonical_bytes(members)
    except ValueError:  # a half character, which is refused in any order
        return

    assert canonical_bytes({name: members[name] for name in names}) == expected


@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=3), documents, max_size=3))
def test_strict_json_reads_what_json_reads(members):
    data = json.dumps(members).encode()

    assert decode_object(data) == members


# -- plans -------------------------------------------------------------------------------------


@given(plans())
def test_a_plan_survives_toml_and_json(plan):
    text = plan.to_toml()

    assert check_plan(text) == ()
    assert Plan.from_toml(text) == plan
    assert Plan.from_toml(text).digest == plan.digest
    assert Plan.from_dict(decode_object(canonical_bytes(plan.to_dict()))) == plan


@half
@given(plans(), plans())
def test_different_plans_have_different_digests(one, other):
    assert (one.digest == other.digest) == (
        canonical_bytes(one.to_dict()) == canonical_bytes(other.to_dict())
    )


@given(st.sampled_from(SAMPLES.plans), st.randoms(use_true_random=False))
def test_changed_bytes_of_a_plan_are_refused_or_read_rightly(plan, random):
    examine_plan(change_bytes(plan.to_toml().encode(), random).decode("utf-8", "replace"))


# -- messages ----------------------------------------------------------------------------------


@half
@given(st.data())
def test_a_message_survives_its_journey_and_answers_its_plan(data):
    plan = data.draw(plans(sketched=True))
    sketch = data.draw(messages(plan))
    if plan.keys:
        plan = Plan.from_dict({**plan.to_dict(), "keys": {sketch.silo: public_text(KEY)}})
        fields = sketch.to_dict() | {"plan": plan.digest}
        sketch = sign(SiloSketch.from_bytes(json.dumps(fields).encode()), KEY)

    arrived = SiloSketch.from_bytes(sketch.to_bytes())

    check_message(plan, arrived)
    assert arrived == sketch
    assert arrived.digest == sketch.digest
    for sent, received in zip(sketch.cells, arrived.cells, strict=True):
        assert type(sent.count) is type(received.count)
        assert (sent.values is None) == (received.values is None)
        if sent.values is not None:
            assert sent.values.tobytes() == received.values.tobytes()


@given(st.lists(finite, min_size=1, max_size=8))
def test_values_are_accepted_exactly_when_they_do_not_decrease(values):
    if sorted(values) == values:
        assert SketchedCell(group="A", count=1, values=values).values.tolist() == values
    else:
        with pytest.raises(MessageError, match="decrease"):
            SketchedCell(group="A", count=1, values=values)


@examples(300)
@given(st.sampled_from(SAMPLES.messages), st.randoms(use_true_random=False))
def test_changed_bytes_of_a_message_are_refused_or_read_rightly(sample, random):
    plan, sketch = sample

    examine_message(plan, sketch, change_bytes(sketch.to_bytes(), random))


@examples(300)
@given(st.sampled_from(SAMPLES.messages), st.randoms(use_true_random=False))
def test_changed_fields_of_a_message_are_refused_or_read_rightly(sample, random):
    plan, sketch = sample
    changed = change_document(sketch.to_dict(), random)

    examine_message(plan, sketch, json.dumps(changed).encode())


@given(st.sampled_from(SAMPLES.messages), documents)
def test_any_document_is_refused_with_an_error_of_our_own(sample, document):
    plan, sketch = sample

    assert examine_message(plan, sketch, json.dumps(document).encode()) == "MessageError"


@given(st.binary(max_size=60))
def test_any_bytes_are_refused_with_an_error_of_our_own(data):
    with pytest.raises(MessageError):
        SiloSketch.from_bytes(data)


@pytest.mark.sampled
def test_thousands_of_changed_plans_and_messages_are_refused_or_read_rightly():
    received = fuzz(CHANGED, seed=7)

    assert received.total() == CHANGED
    assert received["message: accepted"] > CHANGED / 60
    assert received["message: MessageError"] > CHANGED / 3
    assert received["message: SignatureError"] > CHANGED / 150
    assert received["plan: accepted"] > CHANGED / 60
    assert received["plan: PlanError"] > CHANGED / 15
