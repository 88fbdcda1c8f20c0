"""An operator goes from a file to a saved message, in a browser that is not connected to anything."""

import json
import threading
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.e2e.browser.conftest import PHONE, WIDE
from tests.e2e.browser.silo_pages import PLAN, opened_page, write_table

import fedparity as fp
from fedparity.documents.message_checks import check_message
from fedparity.documents.signing import generate_key, public_text, sign_plan, write_key
from fedparity.page.build_page import build_page, policy_of
from fedparity.privacy.ledger import Ledger
from fedparity.silo import permit as permits
from fedparity.silo.sketch import prepare
from fedparity.tables.opening import FileTable

pytestmark = pytest.mark.browser

READING = {"score": "risk", "group": "group"}
POLICY = 'schema = "fedparity/policy/1"\n'


def message_of(table, plan=PLAN, **reading):
    return prepare(table, plan=plan, silo="Aurora", **{**READING, **reading}).sketch


def drawn_marks(page):
    """How many numbers the picture shows."""
    paths = page.frame.locator("#picture path.mark")
    return sum(
        paths.evaluate_all(
            "each => each.map((one) => one.getAttribute('d').split('M').length - 1)"
        )
    )


def test_the_saved_message_is_the_one_of_the_command(browser, tmp_path):
    table = write_table(tmp_path / "table.csv")
    with opened_page(browser, tmp_path) as page:
        page.choose(table)
        page.compute()
        shown = page.frame.locator("#bytes").text_content()
        name, saved = page.save()

        marks = drawn_marks(page)
        assert page.complaints == []
    assert name == "Aurora.sketch.json"
    sent = message_of(table)
    assert saved == shown.encode() == sent.to_bytes()
    assert marks == sum(cell.levels for cell in sent.cells)
    check_message(PLAN, fp.SiloSketch.from_bytes(saved))


@pytest.mark.slow
def test_parquet_gives_the_same_bytes(browser, tmp_path):
    csv, parquet = (pytest.importorskip(f"pyarrow.{name}") for name in ("csv", "parquet"))
    text, table = write_table(tmp_path / "table.csv"), tmp_path / "table.parquet"
    parquet.write_table(csv.read_csv(text), table)
    with opened_page(browser, tmp_path) as page:
        page.choose(table)
        page.compute()
        _, saved = page.save()

    assert saved == message_of(table).to_bytes() == message_of(text).to_bytes()


@pytest.mark.slow
def test_labels_are_mapped_and_rows_accounted_for(browser, tmp_path):
    table = tmp_path / "table.csv"
    text = write_table(table).read_text("utf-8")
    table.write_text(text.replace(",B,", ",Beta,").replace(",A,1", ",A,") + "X,A,\n", "utf-8")
    with opened_page(browser, tmp_path) as page:
        page.choose(table)
        page.frame.locator("#read-labels").click()
        page.frame.get_by_label("What Beta counts as").select_option("B")
        assert "stop" in page.frame.locator("#missing").text_content()
        assert "1 row" in page.refused()
        page.frame.locator("#missing").select_option("drop")
        page.compute()
        counted = page.frame.locator("#accounting").text_content()
        _, saved = page.save()

    expected = message_of(table, mapping={"Beta": "B"}, missing="drop")
    assert saved == expected.to_bytes()
    assert "901" in counted
    assert "Beta" in counted


@pytest.mark.slow
def test_what_was_chosen_stays_when_something_fails(browser, tmp_path):
    table = write_table(tmp_path / "table.csv")
    with opened_page(browser, tmp_path) as page:
        page.choose(table, score="patient")
        assert "What to do:" in page.refused()
        assert page.frame.locator("#silo").input_value() == "Aurora"
        assert page.frame.locator("#score").input_value() == "patient"
        page.frame.locator("#score").select_option("risk")
        page.compute()


def test_a_policy_and_a_ledger_are_obeyed_and_the_line_is_the_one_of_python(
    browser, tmp_path, monkeypatch
):
    """Time is the only field that a release in a browser chooses for itself."""
    auditor, own = generate_key(), generate_key()
    write_key(tmp_path / "Aurora.key", own)
    plan = replace(PLAN, keys={"Aurora": public_text(own), "Bayside": public_text(auditor)})
    plan = sign_plan(plan, auditor)
    policy = tmp_path / "policy.toml"
    policy.write_text(
        f'{POLICY}[auditors]\noffice = "{public_text(auditor)}"\n[datasets]\n"über" = ["x/*"]\n',
        "utf-8",
    )
    begun, table = tmp_path / "ledger.jsonl", write_table(tmp_path / "table.csv")
    Ledger(begun).begin(because="first")
    before = begun.read_bytes()
    with opened_page(browser, tmp_path, plan) as page:
        page.choose(table)
        page.rules(policy=policy, ledger=begun, key=tmp_path / "Aurora.key")
        page.frame.locator("#dataset").fill("über")
        page.compute()
        assert page.frame.locator("#save").is_disabled()
        name, ledger = page.save("save-ledger")
        _, message = page.save()

    sketch = fp.SiloSketch.from_bytes(message)
    check_message(plan, sketch)
    assert replace(sketch, signature=None) == message_of(table, plan)
    assert name == "ledger.jsonl"
    entry = json.loads(ledger.split(b"\n")[-2])
    monkeypatch.setattr(permits, "now", lambda: entry["time"])
    allowed = permits.Permit.of(
        plan, "Aurora", data=None, policy=policy, ledger=begun, dataset="über", reading=READING
    )
    rows = prepare(table, plan=plan, silo="Aurora", **READING).rows
    allowed.record(sketch, rows=rows)
    assert ledger == begun.read_bytes() != before


REFUSALS = {
    "page = false\n": "does not allow the page",
    "[floors]\nminimum_cell = 20\n": "minimum_cell is 11, the least is 20",
    'modes = ["dp"]\n': "rule mode",
    "": "allows no message that no ledger knows of",
    'without_ledger = true\n[approval]\npeople = ["Ada Berg"]\n': "0 approved plan",
    f'[auditors]\noffice = "{"A" * 43}="\n': "plan is not signed",
    'without_ledger = true\n[datasets]\nvisits = ["x/*"]\n': "does not say which data set",
    "surprise = 1\n": "not a key of a policy",
    "minimum_cell = \n": "line 2: this is not TOML",
}


@pytest.mark.slow
def test_a_policy_refuses_before_a_row_is_read(browser, tmp_path):
    file = tmp_path / "policy.toml"
    with opened_page(browser, tmp_path) as page:
        page.choose(write_table(tmp_path / "table.csv", rows=30))
        for policy, words in REFUSALS.items():
            file.write_text(POLICY + policy, "utf-8")
            page.rules(policy=file)
            page.frame.locator("#problem").evaluate("each => each.replaceChildren()")

            assert words in page.refused()


@pytest.mark.slow
def test_a_second_release_of_the_same_records_needs_a_reason(browser, tmp_path):
    table, ledger = write_table(tmp_path / "table.csv"), tmp_path / "ledger.jsonl"
    other = replace(PLAN, title="Before", levels=20)
    options = {"plan": other, "silo": "Aurora", "ledger": ledger, "policy": None}
    fp.sketch(table, **options, **READING)
    with opened_page(browser, tmp_path) as page:
        page.choose(table)
        page.rules(ledger=ledger)
        refused = page.refused()
        page.frame.locator("#because").fill("the auditor lost the first one")
        page.compute()
        _, saved = page.save("save-ledger")

    assert "1 release of the same records left before, under 'Before'" in refused
    (tmp_path / "new.jsonl").write_bytes(saved)
    entries = Ledger(tmp_path / "new.jsonl").entries()
    assert entries[-1].because == "the auditor lost the first one"
    assert [entry.entry for entry in entries] == ["begin", "release", "release"]


@pytest.mark.slow
def test_a_changed_ledger_is_noticed(browser, tmp_path):
    table, ledger = write_table(tmp_path / "table.csv"), tmp_path / "ledger.jsonl"
    fp.sketch(table, plan=PLAN, silo="Aurora", ledger=ledger, **READING)
    lines = ledger.read_bytes().split(b"\n")
    ledger.write_bytes(b"\n".join([lines[0].replace(b"20", b"19", 1), *lines[1:]]))
    with opened_page(browser, tmp_path) as page:
        page.choose(table)
        page.rules(ledger=ledger)

        assert "line 2 of the ledger" in page.refused().lower()


@pytest.mark.slow
def test_a_key_with_a_passphrase_is_declined(browser, tmp_path):
    write_key(tmp_path / "Aurora.key", generate_key(), passphrase=b"secret")
    with opened_page(browser, tmp_path) as page:
        page.choose(write_table(tmp_path / "table.csv", rows=30))
        page.rules(key=tmp_path / "Aurora.key")

        assert "--sign KEY" in page.refused()


@pytest.mark.slow
def test_it_can_be_used_with_the_keyboard_alone(browser, tmp_path):
    """Files are given to the inputs, since the dialog of the system is not the page's."""
    table = write_table(tmp_path / "table.csv")
    with opened_page(browser, tmp_path) as page:
        press, focused = page.page.keyboard.press, "document.activeElement.id"

        def tab_to(name):
            for _ in range(60):
                if page.frame.evaluate(focused) == name:
                    return
                press("Tab")
            pytest.fail(f"the keyboard does not reach {name}")

        tab_to("silo")
        press("A")
        page.frame.locator("#file").set_input_files(table)
        page.frame.locator("#score").wait_for()
        tab_to("score")
        press("r")
        tab_to("compute")
        press("Enter")
        page.frame.locator("#leaves").wait_for()
        assert page.frame.evaluate(focused) == "leaves"
        tab_to("save")
        with page.page.expect_download() as saved:
            press("Enter")

        assert saved.value.suggested_filename == "Aurora.sketch.json"


@pytest.mark.slow
def test_axe_finds_nothing_and_nothing_is_cut_off(browser, axe, tmp_path):
    """The policy of the page would refuse axe's script, so it is set aside here, and only here."""
    table = write_table(tmp_path / "table.csv")
    with opened_page(browser, tmp_path, bypass_csp=True) as page:
        page.choose(table)
        page.frame.locator("#read-labels").click()
        page.frame.locator("#labels table").wait_for()
        page.compute()
        page.frame.evaluate(
            "for (const each of document.querySelectorAll('details')) each.open = true"
        )
        for where in (page.frame, page.page):
            where.evaluate(axe)
        for width, height in (WIDE, PHONE):
            page.page.set_viewport_size({"width": width, "height": height})
            for scheme in ("light", "dark"):
                page.page.emulate_media(color_scheme=scheme)

                assert complaints(page) == []


def complaints(page):
    """What axe finds in the frame and around it, and how far they are wider than the screen."""
    asked = "axe.run(document, {iframes: false, resultTypes: ['violations']})"
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    found = [
        each for where in (page.frame, page.page) for each in where.evaluate(asked)["violations"]
    ]
    cut = [where.evaluate(wide) for where in (page.frame, page.page)]
    return [(each["id"], each["nodes"][0]["html"][:200]) for each in found] + list(
        filter(None, cut)
    )


@pytest.mark.slow
def test_reading_can_be_stopped_and_started_again(browser, tmp_path):
    table = write_table(tmp_path / "table.csv", rows=200_000)
    with opened_page(browser, tmp_path) as page:
        page.choose(table)
        page.frame.evaluate(
            "{ compute.click(); cancel.click(); setTimeout(() => cancel.click(), 30); }"
        )
        page.frame.locator("#problem .problem").wait_for()
        assert "Reading was stopped" in page.problem
        page.compute()
        _, saved = page.save()

    assert saved == message_of(table).to_bytes()


@contextmanager
def served():
    """The address of the page, which is sent with its policy as a header; and of a page that frames it."""
    made = build_page(PLAN)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            if self.path == "/silo.html":
                self.send_header("content-security-policy", policy_of(made))
            self.end_headers()
            self.wfile.write(
                made if self.path == "/silo.html" else b"<iframe src=silo.html></iframe>"
            )

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_served_by_a_collector_it_is_the_same_page(browser, tmp_path):
    """Its digest is made by the browser, which gives none to a page of another computer without TLS."""
    table = write_table(tmp_path / "table.csv")
    with (
        served() as address,
        opened_page(browser, tmp_path, address=f"{address}/silo.html", offline=False) as page,
    ):
        page.choose(table)
        page.compute()
        _, saved = page.save()

        assert page.complaints == []
    assert saved == message_of(table).to_bytes()


@pytest.mark.slow
def test_no_other_page_can_frame_a_served_one(browser):
    with served() as address:
        page = browser.new_page()
        complaints = []
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(f"{address}/frames.html")
        page.wait_for_timeout(300)
        framed = [frame.locator("main").count() for frame in page.frames]
        page.close()

    assert sum(framed) == 0
    assert any("frame-ancestors" in each for each in complaints)


@pytest.mark.slow
def test_a_table_may_be_dropped_anywhere_on_the_page(browser, tmp_path):
    """Beside the field it would else be opened instead of the page."""
    drop = """([name, text, id]) => {
      const dataTransfer = new DataTransfer();
      for (const each of name) dataTransfer.items.add(new File([text], each));
      const given = { dataTransfer, bubbles: true, cancelable: true };
      document.getElementById(id).dispatchEvent(new DragEvent("dragover", given));
      return document.getElementById(id).dispatchEvent(new DragEvent("drop", given));
    }"""
    text = write_table(tmp_path / "table.csv").read_text("utf-8")
    with opened_page(browser, tmp_path) as page:
        assert page.frame.evaluate(drop, [["a.csv", "b.csv"], text, "h-plan"]) is False
        page.frame.locator("#problem .problem").wait_for()
        assert "b.csv were dropped for the same field" in page.problem
        page.frame.evaluate(drop, [["a.csv", "a.toml"], text, "h-check"])
        page.frame.locator("#score").wait_for()
        assert page.frame.evaluate(drop, [["policy.toml"], "", "policy"]) is True
        page.frame.locator("#silo").select_option("Aurora")
        page.frame.locator("#score").select_option("risk")

        assert "a.toml: line 1: this is not TOML" in page.refused()
        assert "a.csv" in page.frame.locator("#file-facts").text_content()


@pytest.mark.slow
def test_own_files_that_changed_or_are_no_text_are_named(browser, tmp_path):
    ledger, policy = tmp_path / "ledger.jsonl", tmp_path / "policy.toml"
    Ledger(ledger).begin()
    policy.write_bytes(b"\xff\xfe")
    with opened_page(browser, tmp_path) as page:
        page.choose(write_table(tmp_path / "table.csv", rows=30))
        page.rules(policy=policy)
        assert "policy.toml is not text in UTF-8" in page.refused()
        page.rules(policy=[], ledger=ledger)
        ledger.write_bytes(ledger.read_bytes() * 2)
        page.frame.locator("#problem").evaluate("each => each.replaceChildren()")

        assert "ledger.jsonl was changed or moved" in page.refused()


@pytest.mark.slow
def test_what_is_chosen_while_rows_are_read_is_not_mixed_up(browser, tmp_path):
    """A message is of one set of choices, all of which are still there when it is shown."""
    table = write_table(tmp_path / "table.csv", rows=200_000)
    with opened_page(browser, tmp_path) as page:
        page.choose(table)
        page.frame.locator("#compute").evaluate(
            "each => { each.click(); document.getElementById('missing').dispatchEvent(new Event('change', { bubbles: true })); }"
        )
        page.frame.locator("#problem .problem").wait_for()

        assert "chosen anew" in page.problem
        assert page.frame.locator("#leaves").is_hidden()


@pytest.mark.slow
def test_texts_that_mean_a_missing_value_are_named_in_the_page(browser, tmp_path):
    table = tmp_path / "table.csv"
    text = write_table(table).read_text("utf-8")
    table.write_text(text + "X,A,NA\n" * 3, "utf-8")
    with opened_page(browser, tmp_path) as page:
        page.choose(table)
        assert "write NA among the texts" in page.refused()
        page.frame.locator("#text-options").evaluate("each => each.open = true")
        page.frame.locator("#na").fill("?, NA")
        page.frame.locator("#missing").select_option("drop")
        page.compute()
        _, saved = page.save()

    expected = prepare(
        FileTable(table, na=["?", "NA"]), plan=PLAN, silo="Aurora", missing="drop", **READING
    )
    assert saved == expected.sketch.to_bytes()
    assert expected.rows.without_score == 3


@pytest.mark.slow
def test_a_message_of_very_many_numbers_is_drawn(browser, tmp_path):
    """As many as a plan may ask for, where a policy allows it."""
    points, policy = 100_000, tmp_path / "policy.toml"
    policy.write_text(
        f"{POLICY}without_ledger = true\n[floors]\nminimum_cell = 1\nrecords_per_level = 0\n",
        "utf-8",
    )
    plan = fp.Plan(
        title="Many",
        groups=("A", "B"),
        score_range=(0, points - 1),
        score_step=1,
        sketch="counts",
        silos=("Aurora",),
        disclosure={"minimum_cell": 1, "records_per_level": 0},
    )
    table = tmp_path / "table.csv"
    table.write_text("group,risk\nA,5\nA,7\nB,7\n", "utf-8")
    with opened_page(browser, tmp_path, plan) as page:
        page.choose(table)
        page.rules(policy=policy)
        page.compute()
        _, saved = page.save()

        assert drawn_marks(page) == 2 * points
    assert saved == message_of(table, plan).to_bytes()
