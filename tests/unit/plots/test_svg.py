"""Inline drawings: small, safe, the same each time, and each mark says which number it is."""

import json
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from tests.unit.plots.results import SHAPES, make_result
from tests.unit.plots.test_every_display import DISPLAYS, named

from fedparity.plots import GroupCDFDisplay, LocalForestDisplay, drawing
from fedparity.plots.svg import circle_radius, short_number, short_path

SVG = "{http://www.w3.org/2000/svg}"


def made(display, result, *, alt="what it shows", name="d"):
    return drawing(display.from_audit(result), alt=alt, name=name)


def parsed(text):
    return ET.fromstring(text)  # noqa: S314 -- our own


def found(document, pointer):
    """What a JSON pointer names, read from JSON text."""
    for escaped in pointer.split("/")[1:]:
        key = escaped.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


@pytest.mark.parametrize("display", DISPLAYS, ids=named)
def test_the_same_result_gives_the_same_bytes(display):
    assert made(display, make_result()) == made(display, make_result())


@pytest.mark.parametrize("display", DISPLAYS, ids=named)
def test_every_marked_number_is_in_the_result(display):
    for shape in ("withheld and missing", "hard names", "many silos", "intersections"):
        result = SHAPES[shape]()
        document = json.loads(result.to_json())

        paths = [
            element.attrib["data-path"]
            for element in parsed(made(display, result).svg).iter()
            if "data-path" in element.attrib
        ]

        assert paths
        for path in paths:
            found(document, path)


@pytest.mark.parametrize("display", DISPLAYS, ids=named)
def test_a_strict_content_policy_has_nothing_to_refuse(display):
    """No script, style sheet, style attribute, event, link outside or foreign element."""
    root = parsed(made(display, SHAPES["hard names"]()).svg)

    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {
        *("svg", "title", "defs", "g", "path", "text", "use", "circle", "rect"),
        *("clipPath", "pattern"),
    }
    for element in root.iter():
        assert "style" not in element.attrib
        assert not [key for key in element.attrib if key.startswith("on")]
        assert element.get("href", "#d-").startswith("#d-")


@pytest.mark.parametrize("display", DISPLAYS, ids=named)
def test_ids_begin_with_the_name_and_all_references_are_met(display):
    text = made(display, make_result(lacking="withheld")).svg

    ids = re.findall(r' id="([^"]*)"', text)
    used = re.findall(r'url\(#([^)]*)\)|href="#([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert all(own.startswith("d-") for own in ids)
    assert {a or b for a, b in used} == set(ids)


def test_the_description_is_said_and_escaped():
    made_up = made(GroupCDFDisplay, make_result(), alt='a "b" <c>').svg

    root = parsed(made_up)
    assert root.get("role") == "img"
    assert root.get("aria-label") == 'a "b" <c>'
    assert root[0].tag == f"{SVG}title"
    assert root[0].text == 'a "b" <c>'
    assert "<c>" not in made_up


def test_text_is_text_in_the_page_s_font_and_color():
    root = parsed(made(GroupCDFDisplay, make_result()).svg)

    texts = list(root.iter(f"{SVG}text"))
    assert "share at or below" in [text.text for text in texts]
    assert not [text for text in texts if "font-family" in text.attrib]
    assert root.get("fill") == "currentColor"


@pytest.mark.parametrize("scale", [1.0, 1e-140])
def test_the_axes_say_which_number_stands_where(scale):
    """A dot of the forest lies where the axis says that its silo's disparity is."""
    result = make_result(scale=scale)
    forest = made(LocalForestDisplay, result)
    document = json.loads(result.to_json())
    axis = forest.axes[0]

    dots = [
        (float(element.attrib["cx"]), found(document, element.attrib["data-path"]))
        for element in parsed(forest.svg).iter(f"{SVG}circle")
    ]

    assert len(dots) == len(result.silos)
    for place, value in dots:
        share = (place - axis.x0) / (axis.x1 - axis.x0)
        expected = axis.v0 + share * (axis.v1 - axis.v0)
        assert value == pytest.approx(expected, abs=1e-4 * (axis.v1 - axis.v0))


def test_the_vertical_axis_counts_downwards():
    """The names of 0 % and 100 % stand where the axis says that 0 and 1 are."""
    cdf = made(GroupCDFDisplay, make_result())
    axis = cdf.axes[0]

    heights = {text.text: float(text.get("y")) for text in parsed(cdf.svg).iter(f"{SVG}text")}

    for name, value in (("0 %", 0.0), ("100 %", 1.0)):
        share = (value - axis.w0) / (axis.w1 - axis.w0)
        assert heights[name] == pytest.approx(axis.y0 + share * (axis.y1 - axis.y0), abs=5)


@pytest.mark.parametrize("display", DISPLAYS, ids=named)
def test_a_drawing_of_sixty_silos_is_small(display):
    assert len(made(display, SHAPES["sixty silos"]()).svg.encode()) < 28_000


@pytest.mark.parametrize("display", DISPLAYS, ids=named)
def test_a_thousand_silos_take_no_more_than_sixty(display):
    many = make_result(silos=1000, levels=1)

    assert len(made(display, many).svg.encode()) < 28_000


def test_a_circle_is_recognized_and_a_square_is_not():
    arcs = "C 1 1 1 1 1 1 " * 8

    assert circle_radius(f"M 0 2.5 {arcs}z") == 2.5
    assert circle_radius("M 0 2.5 L 1 1 L 2 2 z") is None


@pytest.mark.parametrize("value", [0.0, -0.004, 0.004, 1 / 3, -2 / 3, 1e5, 100.0, -10.5])
def test_a_short_number_is_within_half_a_hundredth(value):
    assert float(short_number(value)) == pytest.approx(value, abs=0.005)


def test_roundings_of_a_path_do_not_add_up():
    """Every point of a long curve is within half a tenth of where it was."""
    points = 1 + np.cumsum(np.random.default_rng(0).uniform(0.2, 2.0, (1000, 2)), axis=0)
    path = "M 0 0 " + " ".join(f"L {x} {y}" for x, y in points)

    steps = re.findall(r"l(-?[.\d]+)\s?(-?[.\d]+)", short_path(path))

    assert np.cumsum(np.array(steps, dtype=float), axis=0) == pytest.approx(points, abs=0.0501)
