"""Every numbered statement of the paper, and whether it is tested in this folder.

Keys are the labels of the paper. Two remarks have no label there; they are named after the
statement that they follow.
"""

from __future__ import annotations

TESTED = "tested"

STATEMENTS: dict[str, str] = {
    # Section 2
    "def:Up": TESTED,
    "def:Hp": TESTED,
    "rem:two-groups": TESTED,
    # Section 3
    "rem:trimmed": TESTED,
    "prop:discretization": TESTED,
    "prop:barUk2_short": TESTED,
    # Section 4
    "def:Gp": TESTED,
    "prop:Gp-equals-Up": TESTED,
    "prop:federated-consistency": TESTED,
    "prop:hp-quantiles": TESTED,
    "remark after prop:hp-quantiles": TESTED,
    "cor:hp-G": TESTED,
    # Section 5
    "thm:anova": TESTED,
    "prop:anova-bounds": TESTED,
    "cor:vanishing": TESTED,
    "rem:p1": TESTED,
    # Appendix A
    "alg:oneshot": TESTED,
    # Appendix B
    "prop:interp": TESTED,
    "prop:order-gain": TESTED,
    # Appendix C
    "lem:Wp-quantiles": TESTED,
    "lem:midpoint-riemann": TESTED,
    "lem:cdf-unif": TESTED,
    "lem:dkw": TESTED,
    "lem:quantile-lip-cr": TESTED,
    # Appendix E
    "lem:knot-stability": TESTED,
    "lem:knot-count-cdf": TESTED,
    "cor:knot-stability-Lip": TESTED,
    "lem:weights-concentration": TESTED,
    "thm:master-bound": TESTED,
    "rem:strictness-bar": TESTED,
    # Appendix F
    "lem:dkw:massart": TESTED,
    "remark after lem:dkw:massart": "it names the source of a lemma and states nothing itself",
    "lem:quantile-bracket": TESTED,
    "lem:quantile-lip": TESTED,
    "lem:stepcdf": TESTED,
    "lem:Phi-lip-app": TESTED,
}
