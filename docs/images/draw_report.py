"""Take the picture of the report's first screen, with an installed Chromium.

Run with ``.venv/bin/python docs/images/draw_report.py`` after ``make test``, which installs what it
needs.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import sync_playwright

TARGET = Path(__file__).parent / "report.png"
COLORS = 128


def report(folder: Path) -> Path:
    """Write the report of the demonstration."""
    for arguments in (
        ("demo", "--out", str(folder / "demo")),
        (
            "report",
            str(folder / "demo/result.json"),
            "--html",
            str(folder / "report.html"),
            *("--author", "Office of Audits", "--date", "2026-11-18"),
        ),
    ):
        command = [sys.executable, "-m", "fedparity", *arguments]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- our own command
    return folder / "report.html"


def main() -> None:
    """Take the picture, and make its file small."""
    program = os.environ.get("FEDPARITY_CHROMIUM") or shutil.which("chromium")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 760})
        page.goto(report(Path(folder)).as_uri())
        page.screenshot(path=TARGET)
        browser.close()
    with Image.open(TARGET) as picture:
        picture.convert("RGB").quantize(COLORS).save(TARGET, optimize=True)


if __name__ == "__main__":
    main()
