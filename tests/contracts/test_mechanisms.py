"""What every source of noise must pass: whole numbers, of the stated law, that no seed repeats."""

import random

import numpy as np
import pytest

import fedparity as fp
from fedparity.privacy.noise import NoiseLaw, noisy_counts, polya_differences

SHAPE = (2, 4000)


def laplace(epsilon, shape):
    return noisy_counts(np.zeros(shape, np.int64), epsilon)


def split_in_three(epsilon, shape):
    return polya_differences(shape, epsilon, 3)


MECHANISMS = {"discrete Laplace": (laplace, 1.0), "a share of three": (split_in_three, 1 / 3)}


@pytest.fixture(params=MECHANISMS.values(), ids=MECHANISMS.keys())
def mechanism(request):
    """What draws noise, and how many doses one draw is."""
    return request.param


def test_noise_is_whole_numbers_in_the_shape_asked_for(mechanism):
    draw, _ = mechanism

    noise = draw(1.0, SHAPE)

    assert noise.shape == SHAPE
    assert noise.dtype == np.int64


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_noise_has_mean_zero_and_the_stated_spread(mechanism, epsilon):
    draw, doses = mechanism
    law = NoiseLaw(epsilon, doses)

    noise = draw(epsilon, SHAPE)

    assert abs(noise.mean()) < 5 * law.deviation / np.sqrt(noise.size)
    assert noise.var() == pytest.approx(law.variance, rel=0.35)


def test_neighbouring_numbers_are_not_related(mechanism):
    draw, _ = mechanism
    noise = draw(1.0, SHAPE).ravel()

    assert abs(np.corrcoef(noise[:-1], noise[1:])[0, 1]) < 5 / np.sqrt(noise.size)


def test_no_seed_repeats_it(mechanism):
    """Randomness is the operating system's: whoever knows a seed knows the noise."""
    draw, _ = mechanism
    drawn = []
    for _ in range(2):
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002 -- a seed that must not matter
        drawn.append(draw(1.0, SHAPE).tolist())

    assert drawn[0] != drawn[1]


def test_an_epsilon_that_hides_everything_is_refused(mechanism):
    draw, _ = mechanism

    with pytest.raises(fp.errors.PrivacyError):
        draw(1e-9, SHAPE)
