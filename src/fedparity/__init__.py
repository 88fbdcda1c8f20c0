"""Measure demographic disparity across institutions that cannot pool their data.

Each silo releases, per sensitive group, a count and k numbers; the auditor recovers the
disparity of the whole, how it splits, and what every silo would have seen alone.

The names below are for everyday use. The rest is in :mod:`fedparity.theory` (the paper's quantities
one by one), :mod:`fedparity.planning`, :mod:`fedparity.documents`, :mod:`fedparity.errors` and
:mod:`fedparity.plots`.

>>> import fedparity as fp
>>> fp.disparity([0.1, 0.2, 0.6, 0.9], sensitive_features=["a", "a", "b", "b"])
0.0925
"""

import importlib
import typing

from fedparity.version import __version__

__all__ = [
    "AuditResult",
    "Cell",
    "DatabaseTable",
    "Federation",
    "FedparityError",
    "FileTable",
    "InputError",
    "Law",
    "Method",
    "Plan",
    "SiloSketch",
    "Sketcher",
    "Weights",
    "__version__",
    "assess",
    "at_threshold",
    "audit",
    "compare",
    "disparity",
    "heterogeneity",
    "plan_size",
    "simulate",
    "sketch",
    "wasserstein",
]

_HOMES = {
    "AuditResult": "documents.result",
    "Cell": "sketches.cell",
    "DatabaseTable": "tables.databases",
    "Federation": "federated.federation",
    "FedparityError": "errors",
    "FileTable": "tables.opening",
    "InputError": "errors",
    "Law": "laws.law",
    "Method": "federated.estimate",
    "Plan": "documents.plan",
    "SiloSketch": "documents.message",
    "Sketcher": "silo.sketch",
    "Weights": "laws.weights",
    "assess": "uncertainty.assessment",
    "at_threshold": "thresholds.rates",
    "audit": "engines.in_process",
    "compare": "uncertainty.model_comparison",
    "disparity": "functionals.disparity",
    "heterogeneity": "functionals.heterogeneity",
    "plan_size": "planning.audit_size",
    "simulate": "engines.in_process",
    "sketch": "silo.sketch",
    "wasserstein": "functionals.wasserstein",
}
"""Where each name is defined; its module is imported when the name is first used."""

_SUBMODULES = ("documents", "errors", "planning", "plots", "theory")

if typing.TYPE_CHECKING:  # the same once more, for type checkers and editors
    from fedparity import documents as documents
    from fedparity import errors as errors
    from fedparity import planning as planning
    from fedparity import plots as plots
    from fedparity import theory as theory
    from fedparity.documents.message import SiloSketch
    from fedparity.documents.plan import Plan
    from fedparity.documents.result import AuditResult
    from fedparity.engines.in_process import audit, simulate
    from fedparity.errors import FedparityError, InputError
    from fedparity.federated.estimate import Method
    from fedparity.federated.federation import Federation
    from fedparity.functionals.disparity import disparity
    from fedparity.functionals.heterogeneity import heterogeneity
    from fedparity.functionals.wasserstein import wasserstein
    from fedparity.laws.law import Law
    from fedparity.laws.weights import Weights
    from fedparity.planning.audit_size import plan_size
    from fedparity.silo.sketch import Sketcher, sketch
    from fedparity.sketches.cell import Cell
    from fedparity.tables.databases import DatabaseTable
    from fedparity.tables.opening import FileTable
    from fedparity.thresholds.rates import at_threshold
    from fedparity.uncertainty.assessment import assess
    from fedparity.uncertainty.model_comparison import compare

else:  # a type checker that saw __getattr__ would let every misspelled name pass

    def __getattr__(name: str) -> object:
        """Import a public name or a submodule when it is first used (PEP 562)."""
        if name in _SUBMODULES:
            return importlib.import_module(f"{__name__}.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        return globals().setdefault(name, found)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
