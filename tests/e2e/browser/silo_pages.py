"""Pages that sketch, opened from disk, and the tables that are dropped on them."""

import random
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.browser.conftest import WIDE

from fedparity import Plan
from fedparity.page.build_page import build_page

PLAN = Plan(
    title="Readmission risk",
    groups=("A", "B"),
    score_range=(0.0, 10.0),
    levels=40,
    thresholds=(5.0,),
    silos=("Aurora", "Bayside"),
)


def write_table(path, seed=1, rows=900):
    """A table of scores with many digits, none of which may be seen outside the worker."""
    draw = random.Random(seed)  # noqa: S311 -- not a secret
    lines = [
        f"P{place:05},{draw.choice('AAB')},{draw.uniform(0, 10):.9f}" for place in range(rows)
    ]
    path.write_text("patient,group,risk\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@dataclass
class SiloPage:
    """An open page: the page around, its frame, and what the console said."""

    page: Any
    frame: Any
    complaints: list[str]

    def choose(self, table, silo="Aurora", score="risk", group="group"):
        """Choose the silo, the file and its columns."""
        self.frame.locator("#silo").select_option(silo)
        self.frame.locator("#file").set_input_files(table)
        self.frame.locator("#score").select_option(score)
        self.frame.locator("#group-0").select_option(group)

    def rules(self, **files):
        """Choose policy, ledger or key."""
        self.frame.locator("#rule-files").evaluate("each => each.open = true")
        for name, file in files.items():
            self.frame.locator(f"#{name}").set_input_files(file)

    def compute(self):
        """Ask for what would leave, and wait until it is shown."""
        self.frame.locator("#compute").click()
        self.frame.locator("#leaves:not([hidden]), #problem .problem").first.wait_for()
        assert self.problem == ""

    @property
    def problem(self):
        """What the page says is wrong."""
        return self.frame.locator("#problem").text_content()

    def save(self, button="save"):
        """Press a button that saves, and return the name and bytes of the file."""
        with self.page.expect_download() as started:
            self.frame.locator(f"#{button}").click()
        return started.value.suggested_filename, Path(started.value.path()).read_bytes()

    def refused(self):
        """Ask for what would leave, and return why it is refused."""
        self.frame.locator("#compute").click()
        self.frame.locator("#problem .problem").wait_for()
        assert self.frame.locator("#leaves").is_hidden()
        return self.problem


@contextmanager
def opened_page(browser, folder, plan=PLAN, size=WIDE, address=None, **options):
    """Open the page of a plan from disk, or at an address, with the network off."""
    file = folder / "silo.html"
    file.write_bytes(build_page(plan))
    width, height = size
    options = {"offline": True, "viewport": {"width": width, "height": height}, **options}
    context = browser.new_context(**options)
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address or file.as_uri())
    frame = page.frames[-1]
    frame.locator("#silo").wait_for()
    try:
        yield SiloPage(page, frame, complaints)
    finally:
        context.close()
