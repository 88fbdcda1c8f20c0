"""Every error fedparity raises on purpose, in one tree.

::

    FedparityError
    └── InputError (also a ValueError)
        ├── ScoreError          scores that are not finite numbers, or none at all
        ├── MassError           weights that are negative, not finite, or all zero
        ├── MagnitudeError      a p-th power that a float64 cannot hold
        ├── OptionError         an order, a number of levels, a trim or a name out of its range
        ├── GroupError          too few groups, missing labels
        │   └── GroupMismatchError   laws and weights that do not name the same groups
        ├── CellError           a cell (one silo, one group) that is not a valid sketch
        └── FederationError     cells that do not fit together

Each carries one sentence that says what was expected and what came, and a ``fix``. Messages name
silos, groups and counts, never the value of a record: they may leave the building.
"""

from fedparity.errors.base import FedparityError, InputError
from fedparity.errors.cells import CellError, FederationError
from fedparity.errors.numbers import (
    GroupError,
    GroupMismatchError,
    MagnitudeError,
    MassError,
    OptionError,
    ScoreError,
)

__all__ = [
    "CellError",
    "FederationError",
    "FedparityError",
    "GroupError",
    "GroupMismatchError",
    "InputError",
    "MagnitudeError",
    "MassError",
    "OptionError",
    "ScoreError",
]
