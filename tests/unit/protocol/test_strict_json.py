"""Strict JSON refuses what two readers could read differently, and what would cost too much."""

import pytest

from fedparity.documents import json_text as strict_json
from fedparity.documents.json_text import decode_object
from fedparity.errors import DocumentError, MessageError

REFUSED = {
    "a field twice": (b'{"a": 1, "b": {"c": 1, "c": 2}}', "'c' twice"),
    "NaN": (b'{"a": NaN}', "NaN"),
    "an infinity": (b'{"a": [-Infinity]}', "infinity"),
    "a float beyond the floats": (b'{"a": [[1.5, -1e999]]}', "too large"),
    "a whole float beyond the floats": (b'{"a": 1E400}', "too large"),
    "an integer beyond 2^53": (b'{"a": 9007199254740993}', "too large"),
    "an integer of a million digits": (b'{"a": ' + b"9" * 10**6 + b"}", "too large"),
    "half a character": (rb'{"a": "\ud83d"}', "half a character"),
    "a name with half a character": (rb'{"\udc00": 1}', "half a character"),
    "Latin-1": (b'{"a": "\xe9"}', "byte 7"),
    "a surrogate in UTF-8": (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
    "an overlong encoding": (b'{"a": "\xc0\xaf"}', "not UTF-8"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "not JSON"),
    "a trailing comma": (b'{"a": 1,}', "line 1, column 9"),
    "two documents": (b"{}{}", "column 3"),
    "nothing": (b"", "not JSON"),
    "a list": (b"[1]", "of type list"),
    "a control character": (b'{"a": "\x01"}', "not JSON"),
    "single quotes": (b"{'a': 1}", "not JSON"),
    "a hundred levels": (b'{"a":' + b"[" * 99 + b"]" * 99 + b"}", "8 deep"),
}


@pytest.mark.parametrize(("data", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_it_is_refused(data, words):
    with pytest.raises(DocumentError, match=words.replace(".", r"\.")) as caught:
        decode_object(data)

    assert caught.value.fix


@pytest.mark.parametrize(("data", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_the_error_is_of_the_class_asked_for(data, words):
    del words

    with pytest.raises(MessageError):
        decode_object(data, error=MessageError)


def test_what_is_allowed_is_read():
    data = b' {"a": [1, -0, 2.5e3, 9007199254740991], "b\\\\": "[[[[[[[[[[[[\\"{", "\xf0\x9f\x98\x80": null}'

    document = decode_object(data)

    assert document == {"a": [1, 0, 2500.0, 2**53 - 1], "b\\": '[[[[[[[[[[[["{', "😀": None}


def test_pairs_of_surrogates_are_whole_characters():
    assert decode_object(rb'{"a": "\ud83d\ude00"}') == {"a": "😀"}


def test_a_large_float_is_read_though_it_is_written_without_a_point():
    assert decode_object(b'{"a": [9007199254740992, -100000000000000000000]}') == {
        "a": [2.0**53, -1e20]
    }


def test_the_limit_of_depth_is_exact():
    def nested(depth):
        return b'{"a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"

    assert decode_object(nested(8)) == {"a": [[[[[[[]]]]]]]}
    with pytest.raises(DocumentError, match="8 deep"):
        decode_object(nested(9))


def test_the_limit_of_size_is_exact():
    data = b'{"a": 1}'

    assert decode_object(data, limit=len(data)) == {"a": 1}
    with pytest.raises(DocumentError, match="larger than 7 bytes"):
        decode_object(data, limit=len(data) - 1)


def test_many_small_things_are_refused_before_they_are_built(monkeypatch):
    """A list costs thirty times its bytes, so that size alone does not bound memory."""
    monkeypatch.setattr(strict_json, "_parsed", lambda *_: pytest.fail("it was built"))

    with pytest.raises(DocumentError, match="entries"):
        decode_object(b'{"a":[' + b"1," * 4_000_001 + b"1]}")
    with pytest.raises(DocumentError, match="texts and lists"):
        decode_object(b'{"a":[' + b'["","",""],' * 500_001 + b"1]}")


@pytest.mark.parametrize("text", ['"\\\\[[["[]', '"\\"[[[[["', '"\\\\\\"[["[[]]', '[]"[[[[[[[[[['])
def test_brackets_in_texts_do_not_nest(text):
    """Also where backslashes before the closing quote escape each other."""
    outside, inside = 0, False
    deepest = position = 0
    while position < len(text):
        if text[position] == "\\":
            position += 1
        elif text[position] == '"':
            inside = not inside
        elif not inside:
            outside += {"[": 1, "]": -1}[text[position]]
            deepest = max(deepest, outside)
        position += 1
    marks = text.encode().replace(b"\\\\", b"").replace(b'\\"', b"")

    assert strict_json.deepest_nesting(marks) == deepest
