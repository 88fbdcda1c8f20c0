"""Documents that travel: the plan, the messages, their canonical bytes, digests and signatures."""

import importlib
import typing

__all__ = [
    "HistogramCell",
    "Mistake",
    "PrivacyTerms",
    "SketchedCell",
    "check_message",
    "check_messages",
    "check_plan",
]

_HOMES = {
    "HistogramCell": "message_cells",
    "Mistake": "plan",
    "PrivacyTerms": "privacy_terms",
    "SketchedCell": "message_cells",
    "check_message": "message_checks",
    "check_messages": "message_checks",
    "check_plan": "plan",
}

if typing.TYPE_CHECKING:
    from fedparity.documents.message_cells import HistogramCell, SketchedCell
    from fedparity.documents.message_checks import check_message, check_messages
    from fedparity.documents.plan import Mistake, check_plan
    from fedparity.documents.privacy_terms import PrivacyTerms

else:  # imported when first used: most modules of this package are needed one by one

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
