"""A result as a table of one row per silo."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fedparity.documents.result_parts import group_key
from fedparity.errors import OptionError, ResultError

if TYPE_CHECKING:
    from fedparity.documents.result import AuditResult

__all__ = ["silo_frame"]

_BACKENDS = ("pandas", "polars", "pyarrow")


def silo_frame(result: AuditResult, backend: str | None) -> Any:  # noqa: ANN401
    """Return one row per silo, as a native table of ``backend``."""
    import narwhals as nw  # noqa: PLC0415 -- 40 ms, and only here

    columns = _columns(result)
    schema = {name: _dtype(values) for name, values in columns.items()}
    frame = nw.from_dict(columns, schema, backend=_chosen(backend))  # type: ignore[arg-type]
    return frame.to_native()


def _columns(result: AuditResult) -> dict[str, list[Any]]:
    influence = {each.silo: each.influence for each in result.attribution.silos}
    columns: dict[str, list[Any]] = {"silo": [silo.silo for silo in result.silos]}
    for each in result.groups:
        columns[f"n {group_key(each.group)}"] = [silo.n[each.group] for silo in result.silos]
    for name in ("disparity", "heterogeneity", "wasserstein", "mean_gap"):
        columns[name] = [getattr(silo, name) for silo in result.silos]
    for end in ("lower", "upper"):
        columns[f"interval_{end}"] = [getattr(silo.interval, end, None) for silo in result.silos]
    columns["influence"] = [influence[silo.silo] for silo in result.silos]
    columns["note"] = [silo.note for silo in result.silos]
    return columns


def _dtype(values: list[Any]) -> Any:  # noqa: ANN401
    """Text, whole numbers where all are known, floats where some are missing."""
    import narwhals as nw  # noqa: PLC0415

    kinds = {type(value) for value in values}
    if kinds == {str}:
        return nw.String
    return nw.Int64 if kinds == {int} else nw.Float64


def _chosen(backend: str | None) -> str:
    if backend is not None:
        if backend not in _BACKENDS:
            raise OptionError.unknown("backend", backend, _BACKENDS)
        if find_spec(backend) is None:
            raise ResultError.no_frames()
        return backend
    for name in _BACKENDS:
        if name in sys.modules:
            return name
    for name in _BACKENDS:
        if find_spec(name) is not None:
            return name
    raise ResultError.no_frames()
