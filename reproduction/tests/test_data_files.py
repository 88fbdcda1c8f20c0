"""Downloads, from a server of this machine: nothing here needs the internet."""

import threading
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import fedparity as fp
from fedparity_reproduction.data_files import (
    UPSTREAM,
    DownloadError,
    UpstreamFile,
    data_folder,
    fetch_file,
    find_file,
)

CONTENT = b"1, 2\n"
KNOWN = UpstreamFile(
    title="small",
    file="small.data",
    url="http://127.0.0.1:9/small.data",  # nobody listens there
    sha256=sha256(CONTENT).hexdigest(),
    license="none",
)


class _Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and writes no log."""

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A server of files, and the folder that it serves."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "served"
    folder.mkdir()
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", folder
        server.shutdown()
        thread.join()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "data"


def test_a_file_with_the_right_digest_is_kept(mirror, target):
    url, folder = mirror
    (folder / "small.data").write_bytes(CONTENT)

    path = fetch_file(KNOWN, target, mirror=url)

    assert path == target / "small.data"
    assert path.read_bytes() == CONTENT


def test_a_file_that_is_there_is_not_downloaded_again(target):
    target.mkdir()
    (target / "small.data").write_bytes(CONTENT)

    assert fetch_file(KNOWN, target).read_bytes() == CONTENT


def test_other_bytes_are_refused_and_not_kept(mirror, target):
    url, folder = mirror
    (folder / "small.data").write_bytes(b"something else")

    with pytest.raises(DownloadError, match="other bytes"):
        fetch_file(KNOWN, target, mirror=url)

    assert not target.exists()


def test_a_file_that_somebody_put_there_is_not_replaced(mirror, target):
    url, folder = mirror
    (folder / "small.data").write_bytes(CONTENT)
    target.mkdir()
    (target / "small.data").write_bytes(b"mine")

    with pytest.raises(fp.errors.OutputError, match="other bytes"):
        fetch_file(KNOWN, target, mirror=url)

    assert (target / "small.data").read_bytes() == b"mine"


@pytest.mark.parametrize("reached", [True, False])
def test_a_home_that_does_not_answer_is_named(mirror, target, reached):
    url = mirror[0] if reached else None  # 404, or nobody there

    with pytest.raises(DownloadError, match="cannot be downloaded") as caught:
        fetch_file(KNOWN, target, mirror=url)

    assert "127.0.0.1" in caught.value.message


# -- where files are looked for


@pytest.mark.parametrize("name", UPSTREAM)
def test_a_missing_file_is_named_with_the_command_that_fetches_it(name, tmp_path):
    with pytest.raises(fp.errors.TableError) as caught:
        find_file(UPSTREAM[name], tmp_path)

    assert UPSTREAM[name].file in caught.value.message
    assert "fedparity-reproduce fetch" in caught.value.fix
    assert "FEDPARITY_DATA" in caught.value.fix


def test_a_copy_is_found_by_its_own_name(tmp_path):
    (tmp_path / "law-school-admissions.csv").touch()

    assert find_file(UPSTREAM["law"], tmp_path).name == "law-school-admissions.csv"


def test_the_variable_names_the_folder_and_an_option_overrules_it(tmp_path, monkeypatch):
    monkeypatch.setenv("FEDPARITY_DATA", str(tmp_path))

    assert data_folder(None) == tmp_path
    assert data_folder(tmp_path / "elsewhere") == tmp_path / "elsewhere"


def test_files_of_the_user_are_in_a_folder_of_the_user(monkeypatch, tmp_path):
    monkeypatch.delenv("FEDPARITY_DATA", raising=False)
    for home, expected in ((str(tmp_path), tmp_path), ("relative", Path.home())):
        monkeypatch.setenv("XDG_DATA_HOME", home)
        monkeypatch.setenv("LOCALAPPDATA", home)

        assert data_folder(None).is_relative_to(expected)
