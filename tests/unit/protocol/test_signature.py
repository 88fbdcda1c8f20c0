"""Signed messages: who sent them, and that nobody changed them."""

import os
import stat
import subprocess
import sys
from dataclasses import replace

import pytest
from tests.unit.protocol.samples import cell, message, plan

import fedparity as fp
from fedparity.documents.signing import (
    generate_key,
    public_text,
    read_key,
    sign,
    signed_bytes,
    verify,
    write_key,
)

KEY, OTHER = generate_key(), generate_key()
SIGNED_PLAN = plan(keys={"aurora": public_text(KEY), "bayside": public_text(OTHER)})


def test_a_signed_message_is_accepted():
    signed = sign(message(SIGNED_PLAN), KEY)

    fp.documents.check_message(SIGNED_PLAN, signed)
    fp.documents.check_message(SIGNED_PLAN, fp.SiloSketch.from_bytes(signed.to_bytes()))
    verify(signed, public_text(KEY))


def test_signing_again_replaces_the_signature():
    twice = sign(sign(message(SIGNED_PLAN), OTHER), KEY)

    assert twice == sign(message(SIGNED_PLAN), KEY)


def test_signatures_are_those_of_the_prefix_and_the_canonical_bytes():
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    signed = sign(message(), key)

    assert signed_bytes(signed) == b"fedparity/sketch/1\n" + message().to_bytes()
    assert sign(message(), key).signature == signed.signature
    assert public_text(key) == "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="


def test_an_unsigned_message_is_refused():
    with pytest.raises(fp.errors.SignatureError, match="is not signed, but the plan has keys"):
        fp.documents.check_message(SIGNED_PLAN, message(SIGNED_PLAN))
    with pytest.raises(fp.errors.SignatureError, match="is not signed"):
        verify(message(), public_text(KEY))


def test_a_message_signed_by_another_silo_is_refused():
    with pytest.raises(fp.errors.SignatureError, match="with the key of silo 'bayside'"):
        fp.documents.check_message(SIGNED_PLAN, sign(message(SIGNED_PLAN), OTHER))


def test_a_message_signed_by_a_stranger_is_refused():
    with pytest.raises(fp.errors.SignatureError, match="does not fit"):
        fp.documents.check_message(SIGNED_PLAN, sign(message(SIGNED_PLAN), generate_key()))


@pytest.mark.parametrize(
    "changes",
    [
        {"rows_dropped": 1},
        {"software": "fedparity 0.1.1"},
        {"cells": [cell(count=41), fp.documents.SketchedCell.kept_back("B", "small")]},
        {"cells": [cell(), fp.documents.SketchedCell.kept_back("B", "complementary")]},
        {"cells": [cell(rank_error=1e-9), fp.documents.SketchedCell.kept_back("B", "small")]},
    ],
)
def test_a_changed_message_is_refused(changes):
    changed = replace(sign(message(SIGNED_PLAN), KEY), **changes)

    with pytest.raises(fp.errors.SignatureError, match="changed after it was signed"):
        fp.documents.check_message(SIGNED_PLAN, changed)


def test_a_silo_cannot_speak_for_another():
    changed = replace(sign(message(SIGNED_PLAN), KEY), silo="bayside")

    with pytest.raises(fp.errors.SignatureError):
        fp.documents.check_message(SIGNED_PLAN, changed)


def test_a_silo_without_a_key_is_refused():
    with pytest.raises(fp.errors.SignatureError, match="none for silo 'coast'"):
        fp.documents.check_message(SIGNED_PLAN, sign(message(SIGNED_PLAN, silo="coast"), KEY))


def test_a_signature_of_a_plan_without_keys_is_not_asked_for():
    fp.documents.check_message(plan(), sign(message(), KEY))


def test_a_public_key_that_is_none_is_refused():
    with pytest.raises(fp.errors.SignatureError, match="32 bytes"):
        verify(sign(message(), KEY), "AAAA")


def test_keys_are_written_for_their_owner_alone_and_never_overwritten(tmp_path):
    path = tmp_path / "aurora.pem"
    write_key(path, KEY)

    assert public_text(read_key(path)) == public_text(KEY)
    with pytest.raises(fp.errors.OutputError, match="never overwritten"):
        write_key(path, OTHER)
    assert public_text(read_key(path)) == public_text(KEY)
    with pytest.raises(fp.errors.OutputError, match="cannot be written"):
        write_key(tmp_path / "no folder" / "aurora.pem", KEY)
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_files_that_hold_no_key_are_refused(tmp_path):
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey  # noqa: PLC0415

    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    plain = serialization.NoEncryption()
    files = {
        "text": b"hello",
        "public": KEY.public_key().public_bytes(
            pem, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
        "other": X25519PrivateKey.generate().private_bytes(pem, pkcs8, plain),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o600)
        with pytest.raises(fp.errors.KeyFileError, match="Ed25519 private key"):
            read_key(tmp_path / name)
    with pytest.raises(fp.errors.KeyFileError, match="cannot be read"):
        read_key(tmp_path / "nowhere")


def test_without_the_package_it_says_what_to_install():
    code = (
        "import sys; sys.modules['cryptography'] = None\n"
        "import fedparity\n"
        "from fedparity.documents.signing import generate_key\n"
        "try: generate_key()\n"
        "except fedparity.FedparityError as error: print(error)\n"
    )

    printed = subprocess.run(  # noqa: S603 -- our own statement
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout

    assert "fix: pip install 'fedparity[sign]'" in printed
