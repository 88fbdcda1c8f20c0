"""Figures of an audit's result, after scikit-learn's convention for displays.

Each class draws one figure with ``from_audit(result, ax=None)``, returns an object with ``ax_`` and
``figure_``, and computes nothing: it puts numbers of the result in their places. ``from_scores`` audits
scores first, and :class:`MessageDisplay` draws a message. They need
``pip install 'fedparity[report]'``; a result that was read from JSON can be drawn like any other.
"""

from fedparity.plots.group_curves import GroupCDFDisplay, GroupQuantileDisplay
from fedparity.plots.group_density import GroupDensityDisplay
from fedparity.plots.outcome_figures import (
    CalibrationDisplay,
    OutcomeDisplay,
    RateDisplay,
    ROCDisplay,
)
from fedparity.plots.part_bars import AttributionDisplay, DecompositionDisplay, UncertaintyDisplay
from fedparity.plots.silo_cells import CellCountDisplay, MessageDisplay, SiloSketchDisplay
from fedparity.plots.silo_forest import InfluenceDisplay, LocalForestDisplay
from fedparity.plots.style import Display
from fedparity.plots.svg import AxisBox, Drawing, drawing

__all__ = [
    "AttributionDisplay",
    "AxisBox",
    "CalibrationDisplay",
    "CellCountDisplay",
    "DecompositionDisplay",
    "Display",
    "Drawing",
    "GroupCDFDisplay",
    "GroupDensityDisplay",
    "GroupQuantileDisplay",
    "InfluenceDisplay",
    "LocalForestDisplay",
    "MessageDisplay",
    "OutcomeDisplay",
    "ROCDisplay",
    "RateDisplay",
    "SiloSketchDisplay",
    "UncertaintyDisplay",
    "drawing",
]
