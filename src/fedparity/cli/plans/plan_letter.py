"""What travels to the silos with a plan: a letter, a summary of the use of data, and commands to copy.

All of it follows from the plan and from what the sender adds; nothing is read from data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fedparity.cli.output import quoted
from fedparity.documents.fields import group_words
from fedparity.documents.files import FileNames, file_name
from fedparity.documents.plan import Plan
from fedparity.modes.mode import ended, mode_of, review_words
from fedparity.text import counted, number

__all__ = ["Letter"]

_TABLE = "TABLE.csv"
"""What a silo puts its own file for, and below its own columns."""


@dataclass(frozen=True)
class Letter:
    """The texts of one plan.

    Examples
    --------
    >>> plan = Plan(title="Q4", groups=("A", "B"), score_range=(0, 1), silos=("aurora", "bayside"))
    >>> sorted(Letter(plan).files())
    ['data-use.md', 'letter.md', 'silos/aurora.md', 'silos/bayside.md']
    """

    plan: Plan
    sender: str | None = None
    contact: str | None = None
    deadline: str | None = None

    def files(self) -> dict[str, str]:
        """Return the texts, as Markdown, by the names of their files."""
        names = FileNames()
        silos = self.plan.silos or ("NAME",)
        pages = {f"silos/{names.of(silo)}.md": self._silo_page(silo) for silo in silos}
        return {"letter.md": self._letter(), "data-use.md": self._data_use(), **pages}

    def _letter(self) -> str:
        plan = self.plan
        groups = _listed([group_words(group) for group in plan.groups])
        low, high = (number(end) for end in plan.score_range)
        page = "your page in `silos/`" if plan.silos else "`silos/NAME.md`"
        return _page(
            f"# Request to take part in an audit: {plan.title}",
            "To the institutions that take part,",
            f"we measure whether a score from {low} to {high} differs between groups of people "
            f"({groups}), over all institutions together. **No record leaves your institution.** You run one "
            "program on your own table; it writes a small file of counts and summary values for each "
            "group, shows you all of it first, and you send that file."
            if not mode_of(plan).in_rounds
            else f"we measure whether a score from {low} to {high} differs between groups of people "
            f"({groups}), over all institutions together. **No record leaves your institution, and we see "
            "no institution's own numbers**, only their sum. You run a program on your own table in "
            "several short steps, and send the small file of each.",
            "## What we ask of you",
            _bullets(
                [
                    "Give `data-use.md` to those who must agree: it says what leaves and what does not.",
                    f"Follow {page}: the commands are there to copy.",
                    (
                        f"Use `plan.toml` as it is. Its digest is `{plan.digest}`; `fedparity plan show "
                        "plan.toml` prints it, and what the plan means. Please compare it by another "
                        "channel, such as the telephone."
                    ),
                    *self._period_words(),
                    self._deadline_words(),
                ]
            ),
            "You may refuse, and your own rules go first: the program obeys a policy of your own "
            "(`fedparity policy new`), and keeps a record of what left (`fedparity ledger show`).",
            "## What you get",
            "The result for all institutions together, with its error bounds"
            + (
                ", and what you would have seen alone."
                if self.plan.privacy is None or not self.plan.privacy.secure
                else ". It shows no institution's own numbers."
            ),
            self._contact_words(),
            self.sender or "The auditor",
        )

    def _data_use(self) -> str:
        plan, described = self.plan, mode_of(self.plan).describe()
        period = (
            "those that the institution selects; the plan states no period"
            if plan.period is None
            else f"from {plan.period[0]} to {plan.period[1]}"
        )
        verdict = (
            "none; the audit gives numbers only"
            if plan.review_level is None
            else review_words(plan)
        )
        groups = _listed([group_words(group) for group in plan.groups])
        return _page(
            f"# Use of data: {plan.title}",
            _bullets(
                [
                    (
                        f"**Purpose:** to measure how far apart the scores of {counted(len(plan.groups), 'group')} "
                        f"({groups}) are, over all institutions together."
                    ),
                    f"**Requested by:** {self.sender or 'the auditor'}. {self._contact_words()}",
                    f"**Records:** {period}.",
                    (
                        "**Read on the institution's own machine:** the column of the score, and the "
                        "column or columns of the group. The program needs no internet connection."
                    ),
                    f"**Review level:** {verdict}.",
                ]
            ),
            "## What leaves the institution",
            _bullets(described.sent),
            "## What is held back",
            _bullets(ended(described.held_back)),
            "## Safeguards",
            _bullets(
                [
                    f"The plan is fixed: every message carries its digest, `{plan.digest}`.",
                    "Before anything is written, `--dry-run` shows all that would leave.",
                    (
                        "The institution's own policy and its ledger can refuse the plan, or a second "
                        "release of the same records."
                    ),
                    *self._further_safeguards(),
                ]
            ),
            "This page is made from the plan. It describes a procedure; it is not legal advice.",
        )

    def _further_safeguards(self) -> Iterator[str]:
        plan = self.plan
        if plan.keys:
            yield "Every message must be signed with the institution's own key."
        if plan.signature is not None:
            yield f"The plan is signed by the auditor, with the key `{plan.signature['key']}`."
        if plan.privacy is not None and plan.privacy.epsilon is not None:
            yield (
                f"Differential privacy with epsilon = {number(plan.privacy.epsilon)} for one record "
                "more or less."
            )

    def _silo_page(self, silo: str) -> str:
        steps = self._rounds(silo) if mode_of(self.plan).in_rounds else self._steps(silo)
        blocks = []
        for place, (words, command) in enumerate(steps, start=1):
            blocks += [f"{place}. {words}", f"   ```\n   {command}\n   ```"]
        other = (
            " Write your own name, as you agreed on it with the auditor, for NAME."
            if self.plan.silos is None
            else ""
        )
        return _page(
            f"# {silo}: commands for {self.plan.title}",
            f"Write the name of your file for {_TABLE}, and the names of its columns for SCORE and GROUP."
            + other
            + " `fedparity sketch --help` says which files and databases can be read.",
            *self._period_words(),
            *blocks,
            f"Plan: `{self.plan.digest}`. {self._deadline_words()} {self._contact_words()}",
        )

    def _steps(self, silo: str) -> Iterator[tuple[str, str]]:
        columns = ["--silo", silo, *self._columns()]
        yield "Install the program, once.", self._installation()
        yield "Read what the plan requests; compare the digest.", "fedparity plan show plan.toml"
        yield (
            "See whether the plan fits your table. Nothing leaves.",
            quoted("fedparity", "doctor", "plan.toml", _TABLE, *columns),
        )
        released = ["fedparity", "sketch", "plan.toml", _TABLE, *columns]
        if self.plan.period is not None:
            released.append("--in-period")
        yield "See all that would leave. Nothing is written.", quoted(*released, "--dry-run")
        if self.plan.keys:
            released += ["--sign", f"{file_name(silo)}.key"]
        output = f"{file_name(silo)}.sketch.json"
        yield "Write the message.", quoted(*released, "-o", output)
        yield (
            f"Send `{output}`, unchanged, to the auditor. This is its record:",
            "fedparity ledger show",
        )

    def _rounds(self, silo: str) -> Iterator[tuple[str, str]]:
        own = ["--silo", silo]
        signed = ["--sign", f"{file_name(silo)}.key"] if self.plan.keys else []
        put = "put the file that it writes into `inbox`, the folder that all can read"

        def step(name: str, *words: str) -> str:
            return quoted("fedparity", "secure", name, "plan.toml", *words, *own, *signed)

        yield "Install the program, once.", self._installation()
        yield "Read what the plan requests; compare the digest.", "fedparity plan show plan.toml"
        yield f"Make keys for this round; {put}.", step("keys")
        yield (
            "When the keys of all silos are there, split your secrets; the same.",
            step("shares", "inbox"),
        )
        yield (
            "See what would leave.",
            quoted(
                *("fedparity", "secure", "mask", "plan.toml", _TABLE, *own, *self._columns()),
                "--dry-run",
            ),
        )
        masked = ["fedparity", "secure", "mask", "plan.toml", _TABLE, "inbox", *own]
        yield "Send your numbers, hidden by masks.", quoted(*masked, *self._columns(), *signed)
        if self.plan.keys:
            yield "When the auditor's request is there, sign it.", step("consent", "inbox")
        yield "Help to open the one sum.", step("unmask", "inbox")

    def _installation(self) -> str:
        """The command that installs what an answer to the plan needs."""
        terms = self.plan.privacy
        needs = {
            "dp": terms is not None and terms.noisy,
            "secure": terms is not None and terms.secure,
            "sign": bool(self.plan.keys),
        }
        extras = ",".join(name for name, needed in needs.items() if needed)
        return quoted("pip", "install", f"fedparity[{extras}]" if extras else "fedparity")

    def _columns(self) -> list[str]:
        first = self.plan.groups[0]
        width = len(first) if isinstance(first, tuple) else 1
        names = ["GROUP"] if width == 1 else [f"GROUP{place}" for place in range(1, width + 1)]
        return ["--score", "SCORE", *(word for name in names for word in ("--group", name))]

    def _period_words(self) -> list[str]:
        if self.plan.period is None:
            return []
        first, last = self.plan.period
        return [
            (
                f"Use the records of {first} to {last} only: select them when you make the table, or with "
                "`--where`; `--in-period` confirms it."
            )
        ]

    def _deadline_words(self) -> str:
        if self.deadline is None:
            return "Please answer by the day that was agreed."
        return f"Please answer by {self.deadline}."

    def _contact_words(self) -> str:
        return f"Questions: {self.contact}." if self.contact else "Questions: ask the sender."


def _listed(names: list[str]) -> str:
    """All names: a letter must not leave out a group."""
    return ", ".join(names)


def _bullets(sentences: list[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _page(*blocks: str) -> str:
    return "\n\n".join(blocks) + "\n"
