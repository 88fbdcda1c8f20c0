"""Every error fedparity raises on purpose, in one tree.

::

    FedparityError
    ├── DisclosureError         a disclosure rule refuses a release
    │   ├── AnsweredError            a question that was answered before
    │   ├── ApprovalError            a plan that the operator of a silo has not agreed to
    │   ├── LedgerError              another release is on record, or the ledger is damaged
    │   ├── PrivacyError             a privacy mode could not keep its promise
    │   │   └── BudgetError               the privacy budget of a data set is spent
    │   ├── RuleError                the silo's own policy refuses a plan
    │   └── RoundError               a step of a secure sum that would reveal more than the sum
    ├── NotAllowedError         a collector that does not know the sender of a request
    ├── MissingExtraError       an optional package that is needed and not installed
    ├── MissingSiloError        a silo of the roster that sent nothing, where all were required
    └── InputError (also a ValueError)
        ├── ScoreError          scores that are not finite numbers, or none at all
        ├── MassError           weights that are negative, not finite, or all zero
        ├── MagnitudeError      a p-th power that a float64 cannot hold
        ├── OptionError         an order, a number of levels, a trim or a name out of its range
        ├── GroupError          too few groups, missing labels
        │   ├── GroupMismatchError   laws and weights that do not name the same groups
        │   └── LabelError           labels of a table that do not fit the groups of a plan
        ├── TableError          a table that cannot be read, or lacks what was requested
        │   └── DatabaseError        a database that refuses a request
        │       ├── DatabaseNameError         a table or column that a database does not have
        │       └── DatabaseUnreachableError  a database that does not answer
        ├── DocumentError       a file that cannot be read, or is not the document it should be
        │   ├── PlanError            a plan that says what it may not, or lacks what it must say
        │   ├── PolicyError          a silo's policy that cannot be read, or says what it may not
        │   ├── ResultError          a document that is not an audit's result
        │   └── MessageError         a silo's message that is not valid, or does not fit its plan
        │       ├── SecureMessageError    a message of a secure sum that does not fit the others
        │       └── SignatureError        a message that is not signed as its plan requires
        ├── CollectorUnreachableError  a collector that does not answer
        ├── ConflictError       a message where another one is already
        ├── PartError (also a KeyError)  a silo, group or threshold that a result does not have
        ├── SettingsError       settings of a silo that do not say what is to be read
        ├── KeyFileError        a file that does not hold a private key
        ├── RoundStateError     the secret state of a secure sum that is missing or damaged
        ├── OutputError         a file that cannot be written, or must not be overwritten
        ├── CellError           a cell (one silo, one group) that is not a valid sketch
        ├── FederationError     cells that do not fit together
        └── RecordsError        records that cannot be read as often as needed

Each carries one sentence that says what was expected and what was found, and a ``fix``. Messages name
silos, groups and counts, never the value of a record: they may leave the building.
"""

from fedparity.errors.base import FedparityError, InputError, MissingExtraError
from fedparity.errors.document_errors import (
    DocumentError,
    KeyFileError,
    MessageError,
    OutputError,
    PartError,
    PlanError,
    PolicyError,
    ResultError,
    SignatureError,
)
from fedparity.errors.inputs import (
    CellError,
    CollectorUnreachableError,
    ConflictError,
    DatabaseError,
    DatabaseNameError,
    DatabaseUnreachableError,
    FederationError,
    GroupError,
    GroupMismatchError,
    LabelError,
    MagnitudeError,
    MassError,
    NotAllowedError,
    OptionError,
    RecordsError,
    ScoreError,
    TableError,
)
from fedparity.errors.release_errors import (
    AnsweredError,
    ApprovalError,
    BudgetError,
    DisclosureError,
    LedgerError,
    MissingSiloError,
    PrivacyError,
    RoundError,
    RoundStateError,
    RuleError,
    SecureMessageError,
    SettingsError,
)

__all__ = [
    "AnsweredError",
    "ApprovalError",
    "BudgetError",
    "CellError",
    "CollectorUnreachableError",
    "ConflictError",
    "DatabaseError",
    "DatabaseNameError",
    "DatabaseUnreachableError",
    "DisclosureError",
    "DocumentError",
    "FederationError",
    "FedparityError",
    "GroupError",
    "GroupMismatchError",
    "InputError",
    "KeyFileError",
    "LabelError",
    "LedgerError",
    "MagnitudeError",
    "MassError",
    "MessageError",
    "MissingExtraError",
    "MissingSiloError",
    "NotAllowedError",
    "OptionError",
    "OutputError",
    "PartError",
    "PlanError",
    "PolicyError",
    "PrivacyError",
    "RecordsError",
    "ResultError",
    "RoundError",
    "RoundStateError",
    "RuleError",
    "ScoreError",
    "SecureMessageError",
    "SettingsError",
    "SignatureError",
    "TableError",
]
