"""What is checked before a collector says where it listens, and who may give it another beginning."""

import datetime as dt
import ipaddress
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.tiers import count
from tests.unit.service.samples import plan

from fedparity.cli.main import cli
from fedparity.cli.serve_commands import StoreOptions, serve
from fedparity.errors import OptionError, OutputError
from fedparity.service import access
from fedparity.service.server import Address, auditor_link
from fedparity.service.store import Store
from fedparity.service.studies import Studies


def certificate(folder, name="here", passphrase=None):
    """Write a certificate for this machine, which signs itself, with its key; return their paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    today = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - dt.timedelta(days=1))
        .not_valid_after(today + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    lock = (
        serialization.BestAvailableEncryption(passphrase)
        if passphrase
        else serialization.NoEncryption()
    )
    cert_file, key_file = folder / f"{name}.pem", folder / f"{name}.key"
    cert_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock)
    )
    return str(cert_file), str(key_file)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_a_port_that_is_taken_is_said_with_a_fix():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OptionError, match=rf"port {port}: address already in use\.") as caught:
            Address(port=port).open()

    assert "--port" in caught.value.fix


@pytest.mark.parametrize("host", ["10.255.255.254", "no.such.host.invalid"])
def test_an_address_that_is_not_of_this_machine_is_said(host):
    with pytest.raises(OptionError, match="cannot listen"):
        Address(host=host, behind_proxy=True, name="audit.example.org").open()


def test_a_certificate_is_checked_before_anything_else(tmp_path):
    cert, key = certificate(tmp_path)
    other, other_key = certificate(tmp_path, "other")
    locked, locked_key = certificate(tmp_path, "locked", b"word")
    for wrong in (
        (cert, str(tmp_path / "missing.key")),
        (str(tmp_path / "missing.pem"), key),
        (cert, other_key),
        (key, cert),
        (locked, locked_key),
    ):
        with pytest.raises(OptionError) as caught:
            Address(port=1, tls_cert=wrong[0], tls_key=wrong[1]).open()
        assert "certificate" in caught.value.message

    assert other


@pytest.mark.parametrize(
    "options",
    [
        {"name": "https://audit.example.org"},
        {"name": "audit.example.org/x"},
        {"name": "a b"},
        {"name": 'x" onclick="y'},
        {"name": ""},
        {"name": "audit.example.org:80", "tls_cert": "x", "tls_key": "y"},
        {"behind_proxy": True},
        {"host": "0.0.0.0", "tls_cert": "x", "tls_key": "y"},  # noqa: S104
        {"host": "::", "tls_cert": "x", "tls_key": "y"},
    ],
)
def test_links_start_with_the_name_of_a_host(options):
    with pytest.raises(OptionError, match="name"):
        Address(**options)


@pytest.mark.parametrize(
    ("options", "url"),
    [
        ({}, "http://127.0.0.1:8765"),
        ({"host": "::1"}, "http://[::1]:8765"),
        ({"behind_proxy": True, "name": "audit.example.org"}, "https://audit.example.org"),
        (
            {"behind_proxy": True, "name": "audit.example.org:8443"},
            "https://audit.example.org:8443",
        ),
    ],
)
def test_an_address_is_written_as_people_type_it(options, url):
    assert Address(**options).url == url


def test_nothing_is_made_where_there_is_no_collector(tmp_path):
    """A typing error in the folder of a backup would otherwise give an empty copy."""
    folder = tmp_path / "misspelled"
    with pytest.raises(OptionError, match="no collector"):
        StoreOptions(data=str(folder), database=None).open()

    assert not folder.exists()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql+pymysql://root@127.0.0.1/test", "SQLite or in PostgreSQL"),
        ("nonsense", "SQLite or in PostgreSQL"),
        ("postgresql+psycopg://ada:pass/word@127.0.0.1/x", "password"),
        ("postgresql://127.0.0.1/x?user=ada&password=word", "password"),
    ],
)
def test_an_address_of_a_database_is_of_a_known_kind_and_holds_no_password(url, words):
    with pytest.raises(OptionError, match=words) as caught:
        StoreOptions(data=None, database=url).open()

    assert "pass/word" not in str(caught.value)


def test_a_database_that_is_away_is_said_without_its_address():
    with pytest.raises(OptionError) as caught:
        Store("postgresql+psycopg://ada:secret@127.0.0.1:1/x")

    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_copy_is_never_put_over_a_file_nor_where_there_is_no_folder(tmp_path):
    store = Store.in_folder(str(tmp_path / "data"))
    (tmp_path / "there").write_text("x")
    for path, words in (("there", "exists"), ("no/such/folder/x", "cannot be written")):
        with pytest.raises(OutputError, match=words) as caught:
            store.back_up(str(tmp_path / path))
        assert "--force" not in caught.value.fix
    store.close()


@pytest.mark.skipif(os.name == "nt", reason="needs permissions of Unix")
def test_only_its_owner_reads_the_database_whatever_the_folder(tmp_path):
    """An operator may have made the folder before, open to everybody."""
    folder = tmp_path / "what?now#50%"  # characters that mean something in addresses
    folder.mkdir(mode=0o755)
    store = Store.in_folder(str(folder))
    Studies(store).create(plan().to_toml(), deadline=None)
    found = {each.name: each.stat().st_mode & 0o077 for each in folder.iterdir()}
    store.close()

    assert found.keys() >= {"collector.sqlite", "collector.sqlite-wal"}
    assert set(found.values()) == {0}


@pytest.mark.sampled
def test_the_log_is_checked_while_the_service_writes_to_it(tmp_path):
    """A line that is added meanwhile is no sign of somebody who changed the log."""
    store = Store.in_folder(str(tmp_path))
    stop = threading.Event()

    def write():
        while not stop.is_set():
            with store.change() as change:
                change.log("somebody", "did something")

    writing = threading.Thread(target=write)
    writing.start()
    try:
        lengths = [store.check_log() for _ in range(count(quick=50, all=200, soak=2000))]
    finally:
        stop.set()
        writing.join()
        store.close()

    assert lengths == sorted(lengths)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second address of this machine")
def test_an_address_has_some_connections_and_the_others_theirs(monkeypatch):
    monkeypatch.setattr("fedparity.service.server._Door._MOST", 3)
    with Address(port=free_port()).open() as door:
        place = door.getsockname()
        socks = [socket.create_connection(place) for _ in range(3)]
        held = [door.accept()[0] for _ in socks]
        socks.append(socket.create_connection(place))
        with pytest.raises(ConnectionAbortedError):
            door.accept()
        socks.append(socket.create_connection(place, source_address=("127.0.0.2", 0)))
        held.append(door.accept()[0])
        held.pop(0).close()
        socks.append(socket.create_connection(place))
        held.append(door.accept()[0])

        assert socks[3].recv(1) == b""
        for each in (*socks, *held):
            each.close()


def test_a_restored_copy_goes_on_where_it_was_made(tmp_path):
    store = Store.in_folder(str(tmp_path / "data"))
    study = Studies(store).create(plan().to_toml(), deadline=None)
    token = Studies(store).token(study, "aurora")
    (tmp_path / "restored").mkdir()
    store.back_up(str(tmp_path / "restored" / "collector.sqlite"))
    lines = store.check_log()
    store.close()
    again = Store.in_folder(str(tmp_path / "restored"), new=False)

    assert again.check_log() == lines
    assert access.find(again, "token", token).silo == "aurora"
    assert Studies(again).get(study).plan == plan()
    again.close()


def test_all_auditors_can_be_signed_out(tmp_path):
    store = Store.in_folder(str(tmp_path))
    address = Address()
    link = auditor_link(store, address).rpartition("/")[2]
    with store.change() as change:
        stolen = access.redeem(change, link)
    auditor_link(store, address)
    assert access.find(store, "session", stolen) is not None
    auditor_link(store, address, sign_out=True)

    assert access.find(store, "session", stolen) is None
    assert "signed all auditors out" in store.events()[-1].action
    store.close()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
def test_the_unit_of_systemd_is_valid(tmp_path):
    unit = Path(__file__).parents[3] / "deploy" / "fedparity-collector.service"
    text = re.sub(r"(?m)^ExecStart=\S+", f"ExecStart={sys.executable}", unit.read_text())
    (tmp_path / unit.name).write_text(text)
    said = subprocess.run(  # noqa: S603 -- our own unit
        ["systemd-analyze", "verify", str(tmp_path / unit.name)],  # noqa: S607 -- as found above
        capture_output=True,
        text=True,
        check=False,
    )

    assert (said.returncode, said.stderr) == (0, "")


def test_the_unit_and_the_container_start_the_service_with_options_that_it_has():
    folder = Path(__file__).parents[3] / "deploy"
    unit = re.search(r"(?m)^ExecStart=(.*)$", (folder / "fedparity-collector.service").read_text())
    container = (folder / "Containerfile").read_text()
    starts = [
        unit[1].split()[2:],
        json.loads(re.search(r"(?m)^ENTRYPOINT (.*)$", container)[1])[2:]
        + json.loads(re.search(r"(?m)^CMD (.*)$", container)[1]),
    ]

    # As part of the program: a command keeps the help option of its first context.
    program = cli.make_context("fedparity", ["serve"])
    for words in starts:
        assert serve.make_context("serve", words, parent=program).params["behind_proxy"]
