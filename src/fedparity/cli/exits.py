"""Exit codes: what each number tells a script, and which error ends with which."""

from __future__ import annotations

from enum import IntEnum

from fedparity.errors import (
    DatabaseUnreachableError,
    DisclosureError,
    FedparityError,
    InputError,
    MissingExtraError,
    MissingSiloError,
    OptionError,
    OutputError,
)

__all__ = ["ExitCode", "exit_code"]


class ExitCode(IntEnum):
    """How a command ended; the numbers are a contract."""

    OK = 0
    BUG = 1
    USAGE = 2
    """The command cannot be carried out as it was typed, or not with what is installed."""
    BAD_INPUT = 3
    """Data, a plan or a message that are not what they should be."""
    REFUSED = 4
    """A disclosure or privacy rule refuses the release."""
    SILO_MISSING = 5
    """A silo of the roster sent nothing, and all were required."""
    NETWORK = 6
    ABOVE = 10
    """The disparity is above the review level, and that was to be told so."""
    INTERRUPTED = 130
    """Ctrl-C: 128 and the number of the signal, as in shells."""
    PIPE_CLOSED = 141
    """Whoever read the output stopped reading."""


_BY_ERROR: tuple[tuple[type[FedparityError], ExitCode], ...] = (
    (DatabaseUnreachableError, ExitCode.NETWORK),
    (DisclosureError, ExitCode.REFUSED),
    (MissingSiloError, ExitCode.SILO_MISSING),
    (MissingExtraError, ExitCode.USAGE),
    (OptionError, ExitCode.USAGE),
    (OutputError, ExitCode.USAGE),
    (InputError, ExitCode.BAD_INPUT),
)
"""The first class that fits decides."""


def exit_code(error: FedparityError) -> ExitCode:
    """Return the code that a command ends with after this error.

    Examples
    --------
    >>> exit_code(OptionError.unknown("sketch", "median", ("quantile", "mean"))).name
    'USAGE'
    """
    return next((code for kind, code in _BY_ERROR if isinstance(error, kind)), ExitCode.BUG)
