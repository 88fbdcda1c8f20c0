"""Canonical JSON: the vectors of RFC 8785, and what has no canonical form."""

import json
import math
import struct

import pytest

from fedparity.documents.json_text import canonical_bytes, number_text
from fedparity.errors import DocumentError

APPENDIX_B = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "expected"), APPENDIX_B.items())
def test_numbers_are_written_as_in_appendix_b_of_the_rfc(bits, expected):
    (number,) = struct.unpack(">d", bytes.fromhex(bits))

    assert number_text(number) == expected
    assert canonical_bytes([number, 0.5]) == f"[{expected},0.5]".encode()


def test_the_example_of_section_3_2_2_has_the_bytes_of_section_3_2_4():
    document = json.loads(
        r"""{
          "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
          "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
          "literals": [null, true, false]
        }"""
    )
    expected = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )

    assert canonical_bytes(document) == expected.encode()


def test_members_are_sorted_by_utf_16_code_units():
    """The example of section 3.2.3: an emoji comes before U+FB33, whose code point is smaller."""
    members = {
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\U0001f600": "Emoji: Grinning Face",
        "\x80": "Control",
        "\xf6": "Latin Small Letter O With Diaeresis",
    }

    names = list(json.loads(canonical_bytes(members)))

    assert names == ["\r", "1", "\x80", "\xf6", "\u20ac", "\U0001f600", "\ufb33"]


def test_control_characters_are_escaped_and_nothing_else():
    text = "\b\t\n\f\r\x00\x1f\x7f/\u2028"

    assert canonical_bytes(text) == '"\\b\\t\\n\\f\\r\\u0000\\u001f\x7f/\u2028"'.encode()


@pytest.mark.parametrize(
    "document",
    [
        math.nan,
        [0.5, math.inf],
        [0.5, -math.inf],
        2**53,
        [-(2**53)],
        {"a": "\ud800"},
        {"\udfff": 1},
        {1: 2},
        {"a": b"bytes"},
        {"a": {1, 2}},
    ],
)
def test_what_has_no_canonical_form_is_refused(document):
    with pytest.raises(DocumentError):
        canonical_bytes(document)


def test_whole_floats_and_integers_are_the_same_number():
    assert canonical_bytes([1.0, -0.0, 1e15]) == canonical_bytes([1, 0, 10**15])
