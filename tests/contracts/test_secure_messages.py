"""The messages of a secure sum: what is written is read again, and what is wrong is refused."""

import json
from dataclasses import replace
from random import Random

import pytest
from benchmarks.fuzz import change_document
from jsonschema import Draft202012Validator
from tests.secure_rounds import Rounds, secure_plan, signing_keys, some_vectors

import fedparity as fp
from fedparity.documents.json_text import schema
from fedparity.modes.secure.round_checks import decode_round, read_round
from fedparity.modes.secure.round_messages import UnmaskAnswer

KEYS = signing_keys(4)
PLAN = secure_plan(4, keys=KEYS)


def every_message():
    """One round with keys, one silo dropped: a message of every kind."""
    rounds = Rounds(PLAN, KEYS).share()
    vectors = {silo: v for silo, v in some_vectors(PLAN).items() if silo != "dune"}
    request = rounds.mask_all(vectors).request()
    for silo in vectors:
        rounds.consent(silo, request)
    for silo in vectors:
        rounds.answer(silo, request)
    return rounds.sent


MESSAGES = every_message()
KINDS = {message.schema: message for message in MESSAGES}


@pytest.mark.parametrize("message", MESSAGES, ids=range(len(MESSAGES)))  # keys differ every time
def test_a_written_message_is_read_as_it_was(message, tmp_path):
    message.write(tmp_path / "message.json")

    found = read_round(tmp_path / "message.json")

    assert found == message
    assert found.to_bytes() == (tmp_path / "message.json").read_bytes()


@pytest.mark.parametrize("message", MESSAGES, ids=range(len(MESSAGES)))  # keys differ every time
def test_a_written_message_is_accepted_by_its_schema(message):
    name = message.schema.split("/")[1]

    Draft202012Validator(schema(name)).validate(json.loads(message.to_bytes()))


@pytest.mark.parametrize("message", KINDS.values(), ids=KINDS)
def test_a_field_more_or_less_is_refused(message):
    document = message.to_dict()
    for name in document.keys() - {"signature", "schema"}:
        fewer = {key: value for key, value in document.items() if key != name}
        with pytest.raises(fp.errors.SecureMessageError, match=f"lacks '{name}'"):
            decode_round(json.dumps(fewer).encode())
    with pytest.raises(fp.errors.SecureMessageError, match="unknown fields"):
        decode_round(json.dumps({**document, "extra": 1}).encode())


def test_another_document_is_not_a_message_of_a_round(tmp_path):
    (tmp_path / "plan.json").write_text(json.dumps(PLAN.to_dict()))

    with pytest.raises(
        fp.errors.SecureMessageError, match=r"plan.json: a message of a secure sum was"
    ):
        read_round(tmp_path / "plan.json")


@pytest.mark.parametrize("kind", KINDS)
def test_changed_messages_are_read_or_refused_and_never_more_than_the_schema_accepts(kind):
    """Whatever is changed: no other error, and nothing is read that the schema refuses."""
    random = Random(kind)  # noqa: S311 -- changes, not secrets
    validator = Draft202012Validator(schema(kind.split("/")[1]))
    document = KINDS[kind].to_dict()
    for _ in range(300):
        changed = change_document(document, random)
        try:
            found = decode_round(json.dumps(changed).encode())
        except fp.FedparityError:
            continue
        if found.schema == kind:
            assert validator.is_valid(changed)


def test_bytes_have_one_text():
    """Nobody can change the text of a share and keep its meaning."""
    answer = next(each for each in MESSAGES if isinstance(each, UnmaskAnswer))
    document = answer.to_dict()
    document["seeds"]["aurora"] += "\n"

    with pytest.raises(fp.errors.SecureMessageError, match="base64 text of 66 bytes"):
        decode_round(json.dumps(document).encode())


def test_a_vector_is_made_of_whole_words():
    message = next(each for each in MESSAGES if each.schema.endswith("mask/1"))

    with pytest.raises(fp.errors.SecureMessageError, match="64-bit words"):
        replace(message, vector=message.vector[:-1])
    with pytest.raises(fp.errors.SecureMessageError, match="64-bit words"):
        replace(message, vector=b"")
