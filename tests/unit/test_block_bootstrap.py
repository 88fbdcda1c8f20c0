"""Recombined redraws of blocks of silos scatter as plain redraws of the whole do."""

import numpy as np
import pytest

import fedparity as fp
from fedparity.diagnostics import assessment
from fedparity.diagnostics.block_bootstrap import block_bootstrap
from fedparity.diagnostics.bootstrap import bootstrap
from fedparity.diagnostics.resampling import Resampler


def federation(seed=0, *, silos=200, records=100, levels=20, largest=1, kind="quantile"):
    """Silos that differ from each other; the first has ``largest`` times as many records."""
    random = np.random.default_rng(seed)
    cells = {}
    for j in range(silos):
        level = random.random()
        for group, gap in (("a", 0.0), ("b", 1.0)):
            size = records * (largest if j == 0 else 1)
            scores = random.beta(2 + level + gap, 4, size)
            cells[f"s{j:04d}", group] = fp.Cell.from_scores(scores, levels=levels, kind=kind)
    return fp.Federation.from_cells(cells)


@pytest.mark.parametrize("kind", ["quantile", "mean"])
@pytest.mark.parametrize("largest", [1, 100])
def test_every_measure_scatters_as_in_plain_redraws(largest, kind):
    """Means within the noise, spreads within a fifth; one silo of a third of the records too."""
    sketches = federation(largest=largest, kind=kind)
    plain = bootstrap(sketches, redraws=200, seed=1)
    blocks = block_bootstrap(sketches, fp.Method(), redraws=200, seed=2)

    assert list(blocks) == list(plain)[:-1]
    for name, drawn in blocks.items():
        spread = plain[name].values.std()
        shift, expected = (
            drawn.values.mean() - drawn.base,
            plain[name].values.mean() - plain[name].base,
        )
        assert drawn.values.std() == pytest.approx(spread, rel=0.22), name
        assert shift == pytest.approx(expected, abs=0.45 * spread), name
    for part in ("noise", "null"):
        found, wanted = (np.mean(getattr(draws["disparity"], part)) for draws in (blocks, plain))
        assert found == pytest.approx(wanted, rel=0.3)


def test_for_order_1_medians_do_not_add_up():
    blocks = block_bootstrap(federation(), fp.Method(order=1), redraws=20)

    assert list(blocks) == ["disparity", "heterogeneity", "selection", "within"]


def test_equal_seeds_give_equal_redraws():
    first, again, other = (
        block_bootstrap(federation(silos=30), fp.Method(), redraws=20, seed=seed)["disparity"]
        for seed in (3, 3, 4)
    )

    assert np.array_equal(first.values, again.values)
    assert not np.array_equal(first.values, other.values)


def test_silos_may_lack_a_group():
    cells = federation(silos=40).cells
    for j in range(10):
        del cells[f"s{j:04d}", "b"]
    sketches = fp.Federation.from_cells(cells)
    plain, blocks = (
        bootstrap(sketches, redraws=100, seed=1),
        block_bootstrap(sketches, fp.Method(), redraws=100),
    )

    for name, drawn in blocks.items():
        assert drawn.base == pytest.approx(float(plain[name].base), rel=0.05, abs=1e-6)


def test_mirrored_redraws_cancel_in_their_mean():
    """What is linear in the noise is gone; independent redraws would leave 0.71 of it."""
    sketches = federation(silos=50)
    resampler = Resampler(sketches, 20)
    base = resampler.undisturbed().values
    one, mirror = resampler.mirrored_pair(np.random.SeedSequence(5))

    alone = np.abs(one.values - base).mean()

    assert np.abs((one.values + mirror.values) / 2 - base).mean() < 0.5 * alone
    assert np.allclose((one.counts + mirror.counts) / 2, sketches.counts)


def test_progress_reaches_its_total():
    told = []
    block_bootstrap(
        federation(silos=20), fp.Method(), redraws=20, progress=lambda *step: told.append(step)
    )

    assert told[-1] == (told[0][1], told[0][1])
    assert sorted(told) == told


def test_large_federations_are_assessed_by_blocks_and_say_so(monkeypatch):
    sketches = federation(silos=60)
    plain = fp.assess(sketches, score_range=(0, 1))
    monkeypatch.setattr(assessment, "MANY_VALUES", 1000)
    large = fp.assess(sketches, score_range=(0, 1), local=["s0001", "s0002"])
    asked = fp.assess(sketches, score_range=(0, 1), redraws=50)

    assert large.disparity.interval == pytest.approx(plain.disparity.interval, rel=0.1)
    assert large.disparity.certificate == plain.disparity.certificate
    assert list(large.local) == ["s0001", "s0002"]
    assert large.local["s0001"].interval == pytest.approx(
        plain.local["s0001"].interval, abs=0.3 * plain.local["s0001"].interval.upper
    )
    assert "2 of 60 silos have an interval of their own" in large.warnings[-1]
    assert len(asked.local) == 60
    assert not any("recombined" in warning for warning in (*asked.warnings, *plain.warnings))


def test_without_a_choice_the_largest_silos_get_an_interval(monkeypatch):
    monkeypatch.setattr(assessment, "MANY_VALUES", 1000)
    found = fp.assess(federation(silos=210, levels=5, largest=3), score_range=(0, 1))

    assert len(found.local) == 200
    assert "s0000" in found.local
