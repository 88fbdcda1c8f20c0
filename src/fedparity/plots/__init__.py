"""Figures of an audit's result, after scikit-learn's convention for displays.

Each class draws one figure with ``from_audit(result, ax=None)``, returns an object with ``ax_`` and
``figure_``, and computes nothing: it puts numbers of the result in their places. They need
``pip install 'fedparity[report]'``; a result that was read from JSON can be drawn like any other.
"""

from fedparity.plots.attribution import AttributionDisplay
from fedparity.plots.cell_count import CellCountDisplay
from fedparity.plots.decomposition import DecompositionDisplay
from fedparity.plots.display import Display
from fedparity.plots.group_cdf import GroupCDFDisplay
from fedparity.plots.group_density import GroupDensityDisplay
from fedparity.plots.group_quantile import GroupQuantileDisplay
from fedparity.plots.influence import InfluenceDisplay
from fedparity.plots.local_forest import LocalForestDisplay
from fedparity.plots.silo_sketch import SiloSketchDisplay
from fedparity.plots.svg import AxisBox, Drawing, drawing
from fedparity.plots.uncertainty import UncertaintyDisplay

__all__ = [
    "AttributionDisplay",
    "AxisBox",
    "CellCountDisplay",
    "DecompositionDisplay",
    "Display",
    "Drawing",
    "GroupCDFDisplay",
    "GroupDensityDisplay",
    "GroupQuantileDisplay",
    "InfluenceDisplay",
    "LocalForestDisplay",
    "SiloSketchDisplay",
    "UncertaintyDisplay",
    "drawing",
]
