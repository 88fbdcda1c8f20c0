"""One file of a plan: equal plans give equal bytes, and the policy in it knows its script by hash."""

import html
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

import fedparity as fp
import fedparity.page
from fedparity.errors import RuleError
from fedparity.page.build_page import build_page, policy_of
from fedparity.page.module_inlining import inlined

PAGE = Path(fedparity.page.__file__).parent.resolve()
PLAN = fp.Plan(title="Q4 </script> & 'x'", groups=("A", "B"), score_range=(0, 1), silos=("a", "b"))


def frame_of(page):
    """The document of the frame, as the browser sees it."""
    return html.unescape(re.search(r"srcdoc='([^']*)'", page.decode())[1])


def test_equal_plans_give_equal_bytes():
    assert build_page(PLAN) == build_page(fp.Plan.from_toml(PLAN.to_toml()))
    assert build_page(PLAN) != build_page(replace(PLAN, levels=50))


def test_the_policy_knows_the_script_and_style_by_their_hashes():
    frame = frame_of(build_page(PLAN))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', frame)[1]
    script = re.findall(r"<script>(.*?)</script>", frame, re.DOTALL)
    style = re.findall(r"<style>(.*?)</style>", frame, re.DOTALL)

    assert len(script) == len(style) == 1
    for kind, text in (("script", script[0]), ("style", style[0])):
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_the_page_around_has_the_same_policy_and_no_script():
    page = build_page(PLAN).decode()
    around = re.sub(r"srcdoc='[^']*'", "", page)
    policies = re.findall(r'Content-Security-Policy" content="([^"]*)"', html.unescape(page))

    assert "<script" not in around
    assert 'sandbox="allow-scripts allow-downloads"' in around
    assert len(policies) == 2
    assert len(set(policies)) == 1


def test_no_address_is_in_it():
    """But for the name of the language of drawings, and what vendored code says of itself."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", frame_of(build_page(PLAN)), flags=re.DOTALL)

    assert set(re.findall(r"https?://[^\s\"'`)]+", code)) <= {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("privacy", [{"mode": "dp", "epsilon": 1.0}, {"mode": "secure"}])
def test_plans_with_noise_or_secure_sums_are_declined_with_the_command(privacy):
    plan = fp.Plan(
        title="Q4",
        groups=("A", "B"),
        score_range=(0, 1),
        silos=("a", "b", "c"),
        privacy=fp.Plan.from_toml(private_text(privacy)).privacy,
    )

    with pytest.raises(RuleError, match="the page cannot answer this plan") as caught:
        build_page(plan)
    assert (
        "secure keys" if privacy["mode"] == "secure" else "fedparity sketch"
    ) in caught.value.fix


def private_text(privacy):
    lines = [f"{name} = {value!r}".replace("'", '"') for name, value in privacy.items()]
    roster = 'silos = ["a", "b", "c"]\n'
    head = 'schema = "fedparity/plan/1"\ntitle = "Q4"\ngroups = ["A", "B"]\nscore_range = [0.0, 1.0]\n'
    return f"{head}{roster}[privacy]\n" + "\n".join(lines) + "\n"


def write_modules(folder, **modules):
    for name, text in modules.items():
        Path(folder, f"{name}.js").write_text(text, "utf-8")
    return folder / f"{next(iter(modules))}.js"


def test_modules_come_after_those_that_they_import(tmp_path):
    entry = write_modules(
        tmp_path,
        top='import { two as zwei } from "./low.js";\nexport const four = zwei * zwei;\n',
        low="const own = 2;\nexport const two = own;\n",
    )

    assert inlined(entry, tmp_path) == (
        '"use strict";\n// low.js\nconst $low = (() => {\nconst own = 2;\nconst two = own;\n'
        "return { two };\n})();\n// top.js\nconst $top = (() => {\nconst { two: zwei } = $low;\n"
        "const four = zwei * zwei;\nreturn { four };\n})();\n"
    )


def test_modules_that_import_each_other_call_each_other(tmp_path):
    entry = write_modules(
        tmp_path,
        one="import { odd } from './two.js';\nexport function even(n) { return !n || odd(n - 1); }\n",
        two="import { even } from './one.js';\nexport function odd(n) { return n && even(n - 1); }\n",
    )

    assert "const even = (...given) => $one.even(...given);" in inlined(entry, tmp_path)


@pytest.mark.parametrize("line", ['import * as x from "./y.js";', "export default 3;"])
def test_another_kind_of_module_is_refused(tmp_path, line):
    with pytest.raises(ValueError, match=r"top\.js"):
        inlined(write_modules(tmp_path, top=f"{line}\n"), tmp_path)


MODULES = sorted(each for folder in ("engine", "shell") for each in (PAGE / folder).glob("*.js"))
IMPORTED = re.compile(r'^import \{ ([^{}\n]*) \} from "(\.[^"\n]+)";$', re.MULTILINE)


def imports_of(module):
    """Names that a module imports, by the module that has them."""
    return {
        (module.parent / path).resolve(): {name.strip() for name in names.split(",")}
        for names, path in IMPORTED.findall(module.read_text("utf-8"))
    }


@pytest.mark.parametrize("module", MODULES, ids=lambda each: each.stem)
def test_a_module_imports_what_it_uses_and_exports_what_others_use(module):
    text = module.read_text("utf-8")
    own = IMPORTED.sub("", text)
    asked = {name for each in MODULES for name in imports_of(each).get(module.resolve(), ())}
    exports = set(
        re.findall(r"^export (?:async )?(?:function\*?|class|const) (\w+)", text, re.MULTILINE)
    )
    named = re.findall(
        r"^(?:export )?(?:async )?(?:function\*?|class|const) (\w+)", text, re.MULTILINE
    )

    assert exports == asked
    for name in {*named, *set().union(*imports_of(module).values())}:
        times = len(re.findall(rf"\b{name}\b", own))
        assert times > (name in named) or name in asked, name


def test_every_module_is_in_the_page():
    frame = frame_of(build_page(PLAN))

    for module in MODULES:
        assert f"// {module.relative_to(PAGE).as_posix()}\n" in frame


def test_the_licenses_of_the_code_of_others_are_in_the_page():
    frame = html.unescape(frame_of(build_page(PLAN)))
    licenses = sorted((PAGE / "vendor").glob("*/LICENSE"))

    assert len(licenses) == 4
    for each in licenses:
        assert each.read_text("utf-8").strip() in frame


def test_a_server_forbids_other_pages_to_frame_it():
    page = build_page(PLAN)

    assert policy_of(page).endswith("; frame-ancestors 'none'")
    assert policy_of(page).startswith("default-src 'none'; ")
    assert policy_of(page).split("; frame-ancestors")[0] in html.unescape(page.decode())
