"""The files behind the data sets: their names, their homes, their digests, their licences."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["UPSTREAM", "UpstreamFile"]


@dataclass(frozen=True, kw_only=True)
class UpstreamFile:
    """A file that somebody else publishes, and copies of it that say the same."""

    title: str
    file: str
    """Its name, here and where it is published."""
    url: str
    sha256: str
    licence: str
    copies: dict[str, str] = field(default_factory=dict)
    """Digests of other files that hold the same records, by name."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it is looked for under."""
        return tuple(dict.fromkeys((self.file, *self.copies)))

    def knows(self, digest: str) -> bool:
        """Whether these are the bytes of the file, or of a copy."""
        return digest in (self.sha256, *self.copies.values())


UPSTREAM = {
    "compas": UpstreamFile(
        title="COMPAS, two-year file (ProPublica)",
        file="compas-scores-two-years.csv",
        url=(
            "https://raw.githubusercontent.com/propublica/compas-analysis/master/"
            "compas-scores-two-years.csv"
        ),
        sha256="c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
        licence="none stated; public records of Broward County, published by ProPublica",
        copies={  # without the columns that identify people
            "compas-scores-two-years.csv": (
                "4771cdb90a3ddb1302bf039297998826fd0f09559189aff363ee175b4f56b9f2"
            )
        },
    ),
    "adult": UpstreamFile(
        title="Adult (Census Income), training part (UCI)",
        file="adult.data",
        url="https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data",
        sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        licence="CC BY 4.0",
    ),
    "law": UpstreamFile(
        title="Law school admissions (LSAC), as in the R package fairml",
        file="law.school.admissions.rda",
        url=(
            "https://raw.githubusercontent.com/cran/fairml/master/data/law.school.admissions.rda"
        ),
        sha256="d270972df4787b2da3650f01e9176be53cdbcef2fd3032c8045a2a8d029c4308",
        licence="MIT (the package fairml)",
        copies={  # the same table as text
            "law-school-admissions.csv": (
                "680d9c0e4b8c5c57f1b8b90a110d7d9273b13f97bd5c72cdcb1eb1a32f4ded17"
            )
        },
    ),
}
