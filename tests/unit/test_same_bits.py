"""Numbers depend neither on the threads of the linear algebra library nor on the processor it is made for."""

import os
import subprocess
import sys

import pytest

COUNTERFACTUALS = """
import hashlib
import numpy as np
import fedparity as fp
from fedparity.uncertainty.resampling import _counterfactuals

random = np.random.default_rng(0)
silos, points = 3000, 100
cells = {
    (silo, group): fp.Cell(count=20 + silo % 7, values=np.array([0.2, 0.7]), kind="mean")
    for silo in range(silos)
    for group in "AB"
    if (silo, group) != (0, "B")
}
federation = fp.Federation.from_cells(cells, score_range=(0.0, 1.0))
counts = random.integers(11, 90, (8, len(cells))).astype(float)
spread, pooled = random.random((8, 2, points)), random.random((8, silos, points))
found = _counterfactuals(federation, counts, spread, pooled)
print(hashlib.sha256(b"".join(each.tobytes() for each in found)).hexdigest())
"""
AUDITS = """
import hashlib
import numpy as np
import fedparity as fp

random = np.random.default_rng(3)
group = random.choice(["A", "B", "C"], 900, p=[0.5, 0.45, 0.05])
silo = random.choice(["s", "t", "u"], 900)
points = random.integers(1, 11, 900) + (group == "B")
table = {"silo": silo, "group": group, "points": np.minimum(points, 10), "score": random.beta(2, 3, 900)}
columns = {"silo": "silo", "group": "group", "redraws": 60}
steps = fp.Plan(title="t", groups=("A", "B", "C"), score_range=(1, 10), score_step=1, thresholds=(5,))
smooth = fp.Plan(title="t", groups=("A", "B", "C"), score_range=(0, 1), levels=20)
for plan, score in ((steps, "points"), (smooth, "score")):
    result = fp.audit(table, score=score, plan=plan, **columns)
    print(hashlib.sha256(result.to_json().encode()).hexdigest())
first, second = table["score"], table["score"] ** 2
print(fp.compare(first, second, sensitive_features=group, redraws=60).interval)
"""


@pytest.mark.parametrize("script", [COUNTERFACTUALS, AUDITS], ids=["many silos", "audits"])
def test_numbers_have_the_same_bits_with_any_linear_algebra(script):
    """Threads and kernels of OpenBLAS change the last bits of its products."""
    printed = {
        subprocess.run(  # noqa: S603 -- our own code
            [sys.executable, "-c", script],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads, "OPENBLAS_CORETYPE": processor},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads, processor in (("1", "Haswell"), ("2", "Nehalem"))
    }

    assert len(printed) == 1
