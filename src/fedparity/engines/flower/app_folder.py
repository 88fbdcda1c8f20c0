"""A folder that ``flwr run`` takes: an app for one plan, and settings for each of its silos."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from fedparity.documents.files import FileNames, write_whole
from fedparity.documents.plan import Plan
from fedparity.engines.remote.conversation import Terms
from fedparity.engines.remote.settings import KEYS
from fedparity.errors import OutputError
from fedparity.tables.table import PAIRED, TABLE_SETTINGS
from fedparity.version import __version__

__all__ = ["AppFolder"]

_AUDITOR = '''"""The auditor's side: runs next to the SuperLink."""

from pathlib import Path

from fedparity.engines.flower.apps import auditor_app

app = auditor_app(Path(__file__).with_name("plan.toml"))
'''
_SILO = '''"""The silo's side: runs next to each SuperNode, with the fedparity that is installed there."""

from fedparity.engines.flower.apps import silo_app

app = silo_app()
'''
_STATED = "data", "score", "group"
_OPTIONAL = (
    *(key for key in TABLE_SETTINGS if key not in _STATED),
    *("policy", "dataset", "allow-weaker", "again-because", "in-period"),
    *("sign", "passphrase-file", "ledger", "folder", "again"),
)


@dataclass(frozen=True)
class AppFolder:
    """The files of an app for one plan.

    Raises
    ------
    OptionError
        If the plan has no roster, or the quorum does not fit it.

    Examples
    --------
    >>> plan = Plan(title="Q4", groups=("A", "B"), score_range=(0, 1), silos=("aurora", "bayside"))
    >>> sorted(AppFolder(plan, Terms()).files)[-2:]
    ['silos/aurora.toml', 'silos/bayside.toml']
    """

    plan: Plan
    terms: Terms

    def __post_init__(self) -> None:
        self.terms.quorum_for(self.plan)

    @property
    def files(self) -> dict[str, str]:
        """The text of each file, by its path in the folder."""
        names = FileNames()
        return {
            "pyproject.toml": self._project(),
            "README.md": self._readme(),
            "audit_app/__init__.py": '"""A fedparity audit as a Flower app."""\n',
            "audit_app/auditor.py": _AUDITOR,
            "audit_app/silo.py": _SILO,
            "audit_app/plan.toml": self.plan.to_toml(),
            **{
                f"silos/{names.of(silo)}.toml": self._settings(silo)
                for silo in self.plan.silos or ()
            },
        }

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write all files to a new or empty folder, and return them.

        Raises
        ------
        OutputError
            If there is anything in it, or it cannot be written.
        """
        place = Path(folder)
        try:
            if place.exists() and any(place.iterdir()):
                raise OutputError(
                    f"the folder {place!s} is not empty.",
                    fix="choose a new folder, or empty it.",
                )
            for name in ("audit_app", "silos"):
                (place / name).mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            reason = problem.strerror or type(problem).__name__
            raise OutputError.unwritable(str(place), reason) from None
        for name, text in self.files.items():
            write_whole(place / name, text.encode())
        return [place / name for name in self.files]

    def _project(self) -> str:
        return f"""[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "fedparity-audit"
version = "1.0.0"
description = {_quoted(self.plan.title)}
license = "Apache-2.0"
dependencies = ["fedparity[flower]=={__version__}"]

[tool.hatch.build.targets.wheel]
packages = ["."]

[tool.flwr.app]
publisher = "fedparity"
fab-exclude = ["silos/**"]

[tool.flwr.app.components]
serverapp = "audit_app.auditor:app"
clientapp = "audit_app.silo:app"

[tool.flwr.app.config]
output = ""            # folder of the result; fedparity-run-NUMBER where the SuperLink runs if empty
quorum = {self.terms.quorum_for(self.plan)}             # silos without which there is no result
wait = {self.terms.wait:.1f}            # seconds in which silos may connect
time-limit = {self.terms.limit:.1f}     # seconds in which they have to answer, for each round
confidence = {self.terms.confidence}
seed = {self.terms.seed}
redraws = 0            # of the bootstrap; 0 for the default
simulated-data = ""    # only for flwr's simulation: one table with a column of silos
simulated-silo = "silo"
simulated-score = "score"
{self._columns("simulated-")}
"""

    def _settings(self, silo: str) -> str:
        optional = "".join(
            f"# {key}{'.NAME' if key in PAIRED else ''} = ...  # {KEYS[key]}\n"
            for key in _OPTIONAL
        )
        return f"""# Settings of one silo, for flower-supernode --node-config; they never leave it.
# Read the plan, and write its digest below if this silo is to answer it: fedparity plan show plan.toml
# See what would leave: fedparity engine flower preview THIS-FILE --plan plan.toml
silo = {_quoted(silo)}
plan = ""  # {KEYS["plan"]}; nothing starts while it is empty
data = "records.csv"  # {KEYS["data"]}
score = "score"  # {KEYS["score"]}
{self._columns()}
{optional}"""

    def _columns(self, before: str = "") -> str:
        """The columns of the groups, or of each axis, and of the outcome."""
        said = {name: "" if before else f"  # {KEYS[name]}" for name in ("group", "outcome")}
        lines = [f"{before}axis.{_quoted(name)} = {_quoted(name)}" for name in self.plan.axes]
        lines = lines or [f'{before}group = "group"{said["group"]}']
        if self.plan.outcome is not None:
            lines.append(f'{before}outcome = "outcome"{said["outcome"]}')
        return "\n".join(lines)

    def _readme(self) -> str:
        return f"""# A fedparity audit as a Flower app

    {self.plan.title}

It is for the plan of this title, `{self.plan.digest}`.

- `audit_app/` goes to every silo. It holds the plan and two lines that import fedparity; what runs is the
  fedparity that each silo has installed.
- `silos/NAME.toml` is for the operator of silo NAME: which data are read, in which columns. It is not part of
  the app. Its `plan` is empty: the operator reads the plan and writes the digest of what was read there,
  which `fedparity plan show` prints. Another plan is not answered.

Install `fedparity[flower]` on every machine. `fedparity engine flower start` runs Flower's commands with
telemetry, update checks and installations at run time switched off.

At each silo, first see what would leave:

    fedparity engine flower preview NAME.toml --plan plan.toml

Under a plan with a privacy mode the table is read only after this found no mistake in it, and once.
Then, with the SuperLink running and the silo's key registered under the silo's name:

    fedparity engine flower start flower-supernode --root-certificates ca.crt \\
      --superlink auditor.example:8000 --auth-supernode-private-key NAME.key --node-config NAME.toml

At the auditor:

    fedparity engine flower start flwr run . NAME-OF-CONNECTION --stream

The walk-through with certificates and keys, and what Flower does not protect, is in the how-to
"Audit with Flower" of fedparity's documentation.
"""


def _quoted(text: str) -> str:
    """A TOML string: JSON's escapes are TOML's, but for the one of DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
