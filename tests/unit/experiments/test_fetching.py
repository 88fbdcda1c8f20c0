"""Downloads, from a server of this machine: nothing here needs the internet."""

import json
import threading
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner

import fedparity as fp
from fedparity.cli.main import cli
from fedparity.experiments.datasets import fetching
from fedparity.experiments.datasets.upstream import UPSTREAM, UpstreamFile

pytest.importorskip("pooch")

CONTENT = b"1, 2\n"
KNOWN = UpstreamFile(
    title="small",
    file="small.data",
    url="http://127.0.0.1:9/small.data",  # nobody listens there
    sha256=sha256(CONTENT).hexdigest(),
    licence="none",
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

    path = fetching.fetch_file(KNOWN, target, mirror=url)

    assert path == target / "small.data"
    assert path.read_bytes() == CONTENT


def test_a_file_that_is_there_is_not_downloaded_again(target):
    target.mkdir()
    (target / "small.data").write_bytes(CONTENT)

    assert fetching.fetch_file(KNOWN, target).read_bytes() == CONTENT


def test_other_bytes_are_refused_and_not_kept(mirror, target):
    url, folder = mirror
    (folder / "small.data").write_bytes(b"something else")

    with pytest.raises(fp.DownloadError, match="other bytes"):
        fetching.fetch_file(KNOWN, target, mirror=url)

    assert list(target.iterdir()) == []


def test_a_file_that_somebody_put_there_is_not_replaced(mirror, target):
    url, folder = mirror
    (folder / "small.data").write_bytes(CONTENT)
    target.mkdir()
    (target / "small.data").write_bytes(b"mine")

    with pytest.raises(fp.OutputError, match="other bytes"):
        fetching.fetch_file(KNOWN, target, mirror=url)

    assert (target / "small.data").read_bytes() == b"mine"


@pytest.mark.parametrize("reached", [True, False])
def test_a_home_that_does_not_answer_is_named(mirror, target, reached):
    url = mirror[0] if reached else None  # 404, or nobody there

    with pytest.raises(fp.DownloadError, match="cannot be reached") as caught:
        fetching.fetch_file(KNOWN, target, mirror=url)

    assert "127.0.0.1" in caught.value.message


def test_without_pooch_the_extra_is_named(monkeypatch, target):
    monkeypatch.setattr(fetching, "find_spec", lambda _: None)

    with pytest.raises(fp.MissingExtraError, match=r"fedparity\[reproduce\]"):
        fetching.fetch_file(KNOWN, target)


# -- the commands


def run(*arguments):
    return CliRunner().invoke(cli, ["datasets", *map(str, arguments)])


def test_fetch_prints_where_each_file_is(mirror, target, monkeypatch):
    url, folder = mirror
    (folder / "small.data").write_bytes(CONTENT)
    monkeypatch.setitem(UPSTREAM, "adult", KNOWN)

    done = run("fetch", "adult", "--data", target, "--mirror", url)
    again = run("fetch", "adult", "--data", target, "--json")

    assert done.stdout == f"{target / 'small.data'}\n"
    assert json.loads(again.stdout)[0]["sha256"] == KNOWN.sha256


def test_a_download_that_fails_ends_with_the_code_of_the_network(target, monkeypatch):
    monkeypatch.setitem(UPSTREAM, "adult", KNOWN)

    refused = run("fetch", "adult", "--data", target)

    assert refused.exit_code == 6
    assert refused.stderr.splitlines()[-1].startswith("fix: ")


def test_list_names_homes_and_licences_and_what_is_here(tmp_path):
    (tmp_path / "adult.data").touch()

    entries = json.loads(run("list", "--data", tmp_path, "--json").stdout)
    text = run("list", "--data", tmp_path).stdout

    assert [entry["path"] for entry in entries] == [None, str(tmp_path / "adult.data"), None]
    for entry in entries:
        assert entry["licence"]
        assert entry["url"] in text


def test_check_measures_what_it_reads():
    found = json.loads(run("check", "synthetic", "--json").stdout)

    assert found[0]["groups"] == {"A": 5000, "B": 5000}
    assert found[0]["known"]
    assert found[0]["disparity"] == pytest.approx(0.25 * found[0]["wasserstein"] ** 2)
    assert f"U2 {found[0]['disparity']:.4f}" in run("check", "synthetic").stdout


def test_check_tells_unknown_bytes(tmp_path):
    text = "race,decile_score\nCaucasian,1\nAfrican-American,2\n"
    (tmp_path / "compas-scores-two-years.csv").write_text(text, encoding="utf-8")

    refused = run("check", "compas", "--data", tmp_path)

    assert refused.exit_code == 3
    assert "unknown bytes: compas" in refused.stderr


def test_check_names_a_missing_file(tmp_path):
    refused = run("check", "law", "--data", tmp_path)

    assert refused.exit_code == 3
    assert "law.school.admissions.rda" in refused.stderr
