"""Files of any size and depth are refused without being built in memory."""

import os
import subprocess
import sys

import pytest

import fedparity as fp
from fedparity.documents.files import read_bounded, write_whole

GIGABYTE = 2**30
MEASURE = """
import resource, sys
import fedparity as fp
kilobytes = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
reader = {"plan": fp.Plan, "message": fp.SiloSketch}[sys.argv[1]].read
before = kilobytes()
try:
    reader(sys.argv[2])
except fp.errors.DocumentError as error:
    print(error.message)
print(kilobytes() - before)
"""


def refused(kind, path):
    """What is said of a file, and the megabytes that it took to say it."""
    printed = subprocess.run(  # noqa: S603 -- our own program
        [sys.executable, "-c", MEASURE, kind, str(path)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    *said, kilobytes = printed.splitlines()
    return " ".join(said), int(kilobytes) / 1024


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux counts it")
@pytest.mark.parametrize("kind", ["plan", "message"])
def test_a_gigabyte_is_refused_unread(kind, tmp_path):
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(GIGABYTE)

    said, megabytes = refused(kind, path)

    assert "larger than" in said
    assert megabytes < 20


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux counts it")
@pytest.mark.parametrize(
    "content",
    [
        b"[" * 10_000_000,
        b'{"a":' * 10_000_000,
        b'{"a":' + b"[" * 10_000_000 + b"]" * 10_000_000 + b"}",
        b'{"a":[' + b"[]," * 10_000_000 + b"1]}",
        b'{"a":[' + b'"",' * 10_000_000 + b"1]}",
        b'{"a":[' + b"0.5," * 10_000_000 + b"1]}",
    ],
    ids=["lists", "objects", "closed lists", "empty lists", "texts", "numbers"],
)
def test_ten_million_of_anything_are_refused_before_they_are_built(content, tmp_path):
    """Built, they would take gigabytes; read, they take a few times their bytes."""
    path = tmp_path / "message.json"
    path.write_bytes(content)

    said, megabytes = refused("message", path)

    assert "deep" in said or "more than" in said
    assert megabytes < 20 + 4 * len(content) / 2**20


@pytest.mark.parametrize("text", ["x = " + "[" * 2_000_000, "x" + ".x" * 1_000_000 + " = 1"])
def test_a_deep_plan_is_refused(text):
    """The parser would recurse for the first, and take hours for the second."""
    (mistake,) = fp.documents.check_plan(text)

    assert "deep" in mistake.message or "four parts" in mistake.message


@pytest.mark.skipif(os.name != "posix", reason="there is no endless file")
def test_an_endless_file_is_refused():
    with pytest.raises(fp.errors.DocumentError, match="is not a file"):
        read_bounded("/dev/zero", limit=1000)


def test_a_name_that_cannot_be_one_is_refused():
    with pytest.raises(fp.errors.DocumentError, match="cannot be read"):
        read_bounded("a\x00b", limit=10)
    with pytest.raises(fp.errors.OutputError, match="cannot be written"):
        write_whole("nowhere/at\x00/all", b"")


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    """The disk may be full when the bytes reach it."""

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(fp.errors.OutputError, match="no space left on device"):
        write_whole(tmp_path / "a", b"bytes")
    assert not list(tmp_path.iterdir())


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a"
    write_whole(path, b"old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(5, "I/O error")))

    with pytest.raises(fp.errors.OutputError):
        write_whole(path, b"new", force=True)
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "a"
    link = os.link

    def slow_link(source, target):
        path.write_bytes(b"theirs")
        link(source, target)

    monkeypatch.setattr(os, "link", slow_link)

    with pytest.raises(fp.errors.OutputError, match="exists already"):
        write_whole(path, b"ours")
    assert path.read_bytes() == b"theirs"


def test_file_systems_without_hard_links_are_written_to(tmp_path, monkeypatch):
    def no_link(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", no_link)
    write_whole(tmp_path / "a", b"bytes")

    assert (tmp_path / "a").read_bytes() == b"bytes"
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_a_missing_folder_is_said():
    with pytest.raises(fp.errors.OutputError, match="no such file or directory"):
        write_whole("no/such/folder/a", b"")
