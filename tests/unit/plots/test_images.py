"""Figures look as they looked when somebody last looked at them.

``python -m tests.unit.plots.test_images`` draws the baselines anew; look at each before it is kept.
"""

from pathlib import Path

import pytest
from matplotlib.testing.compare import compare_images
from tests.unit.plots.results import SHAPES
from tests.unit.plots.test_every_display import DISPLAYS

BASELINE = Path(__file__).parent / "baseline"
TOLERANCE = 2.0
"""Root mean square of the difference of gray levels; a shade that is missing makes more."""
DOTS = 60

FIGURES = {
    **{each.__name__: (each, "withheld and missing") for each in DISPLAYS},
    **{
        f"{each.__name__}, {shape}": (each, shape)
        for each in DISPLAYS
        for shape in ("order 1", "ten groups", "many silos")
        if (each.__name__, shape)
        in {
            ("DecompositionDisplay", "order 1"),
            ("GroupCDFDisplay", "ten groups"),
            ("GroupQuantileDisplay", "ten groups"),
            ("SiloSketchDisplay", "ten groups"),
            ("LocalForestDisplay", "many silos"),
            ("CellCountDisplay", "many silos"),
        }
    },
}


def save(name, path):
    display, shape = FIGURES[name]
    display.from_audit(SHAPES[shape]()).figure_.savefig(
        path, dpi=DOTS, metadata={"Software": None}, pil_kwargs={"optimize": True}
    )


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_looks_as_it_did(name, tmp_path):
    save(name, tmp_path / "now.png")

    different = compare_images(BASELINE / f"{name}.png", tmp_path / "now.png", TOLERANCE)

    assert different is None


def test_every_baseline_is_compared():
    assert {path.stem for path in BASELINE.glob("*.png")} == set(FIGURES)


if __name__ == "__main__":
    BASELINE.mkdir(exist_ok=True)
    for name in FIGURES:
        save(name, BASELINE / f"{name}.png")
