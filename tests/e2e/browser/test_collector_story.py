"""Two people, an auditor and a silo, go from an empty folder to a report, by the keyboard alone."""

import random

import pytest
from tests.e2e.browser.conftest import PHONE, WIDE
from tests.e2e.running import run
from tests.e2e.test_audit import write
from tests.e2e.test_collector import Service, free_port

pytest.importorskip("uvicorn")
pytestmark = [pytest.mark.browser, pytest.mark.slow]


class Person:
    """Somebody at a browser, who touches no mouse."""

    def __init__(self, browser, axe, size, folder, name):
        width, height = size
        self._context = browser.new_context(
            viewport={"width": width, "height": height}, bypass_csp=True, accept_downloads=True
        )
        self.page, self._axe, self._size = self._context.new_page(), axe, size
        self._folder, self._name, self._shots = folder, name, 0
        self.complaints = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self.complaints.append(said.text))
        # Playwright hears of choosers from now on; it takes a while, in which a key would be lost.
        self.page.on("filechooser", lambda _: None)

    def enter(self, link):
        """Open a link, and press the button that has the focus."""
        self.page.goto(link)
        self.look()
        self._go("Enter")

    def focus(self, selector):
        """Press Tab until the focus is on an element."""
        for _ in range(120):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("s => document.activeElement.matches(s)", selector):
                return
        raise AssertionError(f"the keyboard does not reach {selector}")

    def press(self, selector, *, leaves=True):
        """Press a button or follow a link, which leads to another page or not."""
        self.focus(selector)
        if leaves:
            self._go("Enter")
        else:
            self.page.keyboard.press("Enter")

    def _go(self, key):
        with self.page.expect_navigation():
            self.page.keyboard.press(key)

    def choose(self, selector, file):
        """Choose a file."""
        self.focus(selector)
        with self.page.expect_file_chooser() as chooser:
            self.page.keyboard.press("Space")
        chooser.value.set_files(file)

    def save(self, selector, file):
        """Download a file."""
        self.focus(selector)
        with self.page.expect_download() as download:
            self.page.keyboard.press("Enter")
        download.value.save_as(file)

    def look(self):
        """Let axe look at the page, also in the dark, and see that it is no wider than a phone."""
        self._shots += 1
        self.page.screenshot(path=self._folder / f"{self._name}-{self._shots}.png", full_page=True)
        self.page.evaluate(
            "for (const each of document.querySelectorAll('details')) each.open = true"
        )
        self.page.evaluate(self._axe)
        self._check("axe.run(document, {resultTypes: ['violations']})")
        self.page.emulate_media(color_scheme="dark")
        self._check("axe.run(document, {runOnly: ['color-contrast']})")
        self.page.emulate_media(color_scheme="light")
        for width, height in (PHONE, self._size):
            self.page.set_viewport_size({"width": width, "height": height})
            assert self.page.evaluate("document.scrollingElement.scrollWidth") <= width

    def _check(self, run):
        found = self.page.evaluate(run)["violations"]
        assert [(e["id"], e["nodes"][0]["html"][:200]) for e in found] == []

    def close(self):
        """Leave; nothing was complained about on the way but the message that was refused."""
        self._context.close()
        assert [each for each in self.complaints if "status of 422" not in each] == []


@pytest.fixture
def people(browser, axe, tmp_path):
    shots = tmp_path / "shots"
    shots.mkdir()
    made = [
        Person(browser, axe, WIDE, shots, "auditor"),
        Person(browser, axe, PHONE, shots, "silo"),
    ]
    yield made
    for person in made:
        person.close()


@pytest.fixture
def service(tmp_path):
    running = Service(tmp_path / "data", free_port())
    yield running
    running.stop()


def table(path, seed):
    """A silo's table."""
    chance = random.Random(seed)  # noqa: S311 -- made up
    rows = [(chance.betavariate(2 + (n % 2), 5), "AB"[n % 2]) for n in range(400)]
    write(path, ("risk", "group"), rows)


def sketch(folder, silo):
    """Reduce a silo's table to its message, with the plan that it downloaded."""
    words = ("--silo", silo, "--score", "risk", "--group", "group", "-o", f"{silo}.json")
    code, _, said = run("sketch", "plan.toml", f"{silo}.csv", *words, folder=folder)
    assert code == 0, said


@pytest.fixture
def folder(tmp_path):
    """An empty folder, in which the auditor writes a plan, and the silos have their tables."""
    made = tmp_path / "desk"
    made.mkdir()
    words = ("--title", "Readmission risk", "--group", "A", "--group", "B", "--range", "0", "1")
    names = ("--silo", "aurora", "--silo", "bayside")
    assert run("plan", "new", "agreed.toml", *words, *names, folder=made)[0] == 0
    for seed, name in enumerate(("aurora", "bayside")):
        table(made / f"{name}.csv", seed)
    return made


def begin_study(auditor, service, folder):
    """Come in, begin a study, and return its address."""
    auditor.enter(service.link)
    auditor.look()
    auditor.choose("#plan", folder / "agreed.toml")
    auditor.press("form[action='/studies'] button")
    auditor.page.wait_for_selector("#people:not(:text('…'))")
    auditor.look()
    return auditor.page.url


def invite(auditor, study, silo):
    """Return the link of a silo."""
    auditor.page.goto(study)
    auditor.press(f"button[aria-label='New link for {silo}']")
    return auditor.page.locator("#link").inner_text()


def upload(silo, file, role):
    """Send a file from the silo's page, and return what the page says."""
    silo.choose("#message", file)
    silo.press("form[action='/silo/message'] button")
    silo.look()
    return silo.page.locator(f"[role={role}]").inner_text()


def test_an_auditor_and_a_silo_get_to_a_report_by_the_keyboard(people, service, folder):
    auditor, silo = people
    study = begin_study(auditor, service, folder)
    link = invite(auditor, study, "aurora")
    auditor.look()
    silo.enter(link)
    silo.look()
    silo.press("form[action='/silo/approve'] button")
    silo.save("a[href='/silo/plan.toml']", folder / "plan.toml")
    for name in ("aurora", "bayside"):
        sketch(folder, name)
    assert "another silo" in upload(silo, folder / "bayside.json", "alert")
    assert "on the disk" in upload(silo, folder / "aurora.json", "status")

    silo.press("form[action='/leave'] button")
    silo.enter(invite(auditor, study, "bayside"))
    silo.press("form[action='/silo/token'] button")
    silo.look()
    token = folder / "token.txt"
    token.write_text(silo.page.locator(".secret .copy code").inner_text())
    token.chmod(0o600)
    auditor.page.goto(study)
    assert "1 of 2" in auditor.page.locator("#figures").inner_text()
    auditor.press("details:has(#reminder) summary", leaves=False)
    assert "waits for your answer" in auditor.page.locator("#reminder").inner_text()
    auditor.page.goto(study)
    send = ("send", "bayside.json", "--to", service.url, "--token-file", "token.txt")
    assert run(*send, folder=folder)[0] == 0
    auditor.page.wait_for_selector("#figures :text('2 of 2')")  # by itself
    auditor.page.wait_for_selector("#people:not(:text('…'))")
    auditor.press("form[action$='/audit'] button")
    auditor.page.wait_for_selector("#people:not(:text('…'))")
    auditor.look()
    auditor.press("a[href$='/runs/1/report.html']")

    assert "Readmission risk" in auditor.page.locator("body").inner_text()
    auditor.page.goto(f"{service.url}/api")
    auditor.look()
