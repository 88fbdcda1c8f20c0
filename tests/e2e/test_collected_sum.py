"""A secure sum through a collector: silos as processes of their own, one killed, one that never comes back."""

import json
import re
import signal
import zipfile
from http.cookiejar import CookieJar
from io import BytesIO
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
from tests.e2e.running import finish, run, start
from tests.e2e.test_audit import write
from tests.e2e.test_collector import Service, free_port
from tests.e2e.test_secure import COLUMNS, SILOS, consortium, plan, rows_of  # noqa: F401

from fedparity.errors import MessageError
from fedparity.service.sender import Door
from fedparity.service.store import Store
from fedparity.service.studies import Studies

pytest.importorskip("uvicorn")
pytestmark = pytest.mark.slow


class Auditor:
    """A browser of the auditor."""

    def __init__(self, service):
        self._url, self._browser = service.url, build_opener(HTTPCookieProcessor(CookieJar()))
        self._browser.open(service.link, b"").read()

    def get(self, page):
        """Return a page."""
        return self._browser.open(f"{self._url}{page}").read()

    def post(self, page, study):
        """Press a button of a study, and return the page after it."""
        secret = re.search(rb'name="csrf" value="([^"]+)"', self.get(f"/studies/{study}"))[1]
        form = urlencode({"csrf": secret.decode()}).encode()
        return self._browser.open(f"{self._url}/studies/{study}/{page}", form).read()


def taking_part(folder, silo, url):
    options = ("--silo", silo, "--sign", f"{silo}.key", "--to", url, "--token-file", "token.txt")
    words = ("secure", "run", "../plan.toml", "data.csv", *COLUMNS, *options, "--timeout", "100")
    return start(*words, folder=folder / silo, home=folder / silo)


def until(process, words):
    """Read what a process says until it says these words."""
    for line in process.stderr:
        if words in line:
            return
    raise AssertionError(f"it never said {words!r}")


def kill(process):
    process.send_signal(signal.SIGKILL)
    finish(process)


def documents(door, step):
    return door.call("GET", f"/api/round/{step}", longest=1 << 20)[1].splitlines()


@pytest.fixture
def service(consortium, tmp_path):  # noqa: F811
    """A collector with the study of the consortium, in which every silo has its token."""
    store = Store.in_folder(str(tmp_path / "data"))
    studies = Studies(store)
    study = studies.create((consortium / "plan.toml").read_text(), deadline=None)
    for silo in SILOS:
        token = consortium / silo / "token.txt"
        token.write_text(studies.token(study, silo))
        token.chmod(0o600)
    running = Service(tmp_path / "data", free_port())
    running.study = study
    yield running
    if running.process.poll() is None:
        running.stop()
    store.check_log()
    store.close()


def first_steps_of_dune(folder, door, inbox):
    """Make two steps by hand, as with files; then dune is not seen again."""
    dune, options = folder / "dune", ("--silo", "dune", "--sign", "dune.key", "-o")
    words = ("secure", "shares", "../plan.toml", inbox, *options, "s.json")
    inbox.mkdir()
    for number, document in enumerate(documents(door, "keys")):
        (inbox / f"{number}.json").write_bytes(document)
    assert run(*words, folder=dune, home=dune)[0] == 0
    door.send((dune / "s.json").read_bytes())


@pytest.fixture
def evidence(consortium, service, tmp_path):  # noqa: F811
    """The archive of a sum: bayside and aurora were killed on the way and came back, dune did not."""
    folder, auditor = consortium, Auditor(service)
    doors = {silo: Door(service.url, (folder / silo / "token.txt").read_text()) for silo in SILOS}
    aurora, bayside = (taking_part(folder, silo, service.url) for silo in SILOS[:2])
    until(bayside, "keys: sent")
    kill(bayside)  # it waits for cedar, which has not begun
    words = ("secure", "keys", "../plan.toml", "--silo", "dune", "--sign", "dune.key", "-o", "k")
    assert run(*words, folder=folder / "dune", home=folder / "dune")[0] == 0
    keys = (folder / "dune" / "k").read_bytes()
    with pytest.raises(MessageError, match="another silo"):
        doors["cedar"].send(keys)
    assert [doors["dune"].send(keys).new for _ in range(2)] == [True, False]
    cedar, bayside = (taking_part(folder, silo, service.url) for silo in ("cedar", "bayside"))
    until(bayside, "shares: sent")
    first_steps_of_dune(folder, doors["dune"], tmp_path / "inbox")
    until(aurora, "mask: sent")
    kill(aurora)
    until(cedar, "mask: sent")
    until(bayside, "mask: sent")
    auditor.post("request", service.study)
    aurora = taking_part(folder, "aurora", service.url)
    ended = [finish(process) for process in (aurora, bayside, cedar)]
    assert [code for code, _, _ in ended] == [0, 0, 0], ended
    auditor.post("audit", service.study)
    archive = auditor.get(f"/studies/{service.study}/runs/1/evidence.zip")
    with zipfile.ZipFile(BytesIO(archive)) as files:
        files.extractall(tmp_path / "evidence")
    return tmp_path / "evidence"


def test_a_secure_sum_through_a_collector_is_that_by_files(consortium, service, evidence):  # noqa: F811
    """The same documents in a folder give the same bytes; the same tables, the same numbers."""
    assert run("audit", "plan.toml", "inbox", "-o", "again.json", folder=evidence)[0] == 0
    stored = (evidence / "result.json").read_bytes()
    rows = [(*row, silo) for place, silo in enumerate(SILOS[:3]) for row in rows_of(place)]
    write(evidence / "pooled.csv", ("risk", "sex", "silo"), rows)
    plan().write(evidence / "unsigned.toml")
    words = ("--silo", "silo", *COLUMNS, "--plan", "unsigned.toml", "--json")
    expected = json.loads(run("simulate", "pooled.csv", *words, folder=evidence)[1])
    code, _, said = finish(taking_part(consortium, "dune", service.url))

    assert stored == (evidence / "again.json").read_bytes()
    found = json.loads(stored)
    for part in ("n", "groups", "disparity", "heterogeneity", "decomposition", "curves", "pairs"):
        assert found[part] == expected[part]
    assert found["silos_missing"] == ["dune"]
    assert (code, "dropped out" in said) == (4, True)


def test_a_silo_that_nobody_joins_stops_in_time_and_goes_on_later(consortium, service):  # noqa: F811
    cedar, options = consortium / "cedar", ("--silo", "cedar", "--sign", "cedar.key")
    where = ("--to", service.url, "--token-file", "token.txt", "--ledger", "x", "--state", "y")
    words = ("secure", "run", "../plan.toml", "data.csv", *COLUMNS, *options, *where)
    ended = [run(*words, "--timeout", "1", folder=cedar, home=cedar) for _ in range(2)]
    (cedar / "token.txt").write_text("x" * 43)
    codes = [run(*words, folder=cedar, home=cedar)[0]]
    service.stop()
    codes.append(run(*words, folder=cedar, home=cedar)[0])

    assert [code for code, _, _ in ended] == [6, 6]
    assert "waiting for the keys of other silos: 1 came, 4 are needed" in ended[1][2]
    assert codes == [4, 6]
