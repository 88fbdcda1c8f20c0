"""Attacks on secure sums that once worked, run again: each gets what the theorem allows, and no more."""

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.secure_rounds import Rounds

import fedparity as fp
from fedparity.documents.signing import generate_key, public_text
from fedparity.errors import RoundError
from fedparity.modes.secure.layout import Layout
from fedparity.modes.secure.masking import masked
from fedparity.modes.secure.round_checks import KeySet, ShareSet, own_stream, pair_stream
from fedparity.modes.secure.round_messages import (
    MaskedVector,
    SecureKeys,
    SecureShares,
    UnmaskRequest,
)
from fedparity.modes.secure.round_progress import open_sum
from fedparity.modes.secure.secure_mode import SiloNumbers, silo_vector
from fedparity.modes.secure.shamir import join
from fedparity.modes.secure.silo_steps import answer_request, consent
from fedparity.version import SOFTWARE

BINS = 128
UNIT = 2.0**-24
"""Of the fractions that sums once held."""


def names(silos):
    return tuple(f"silo {number}" for number in range(silos))


def plan_of(silos, groups=2, *, keys=None, **privacy):
    owners = {} if keys is None else {name: public_text(key) for name, key in keys.items()}
    return fp.Plan(
        title="Q4",
        groups=tuple("ABC"[:groups]),
        score_range=(0.0, 1.0),
        silos=names(silos),
        keys=owners,
        disclosure={"minimum_cell": 1},
        privacy={"mode": "secure", "bins": BINS, **privacy},
    )


def dealt(counts, silos, random):
    """A federation whose histograms add up to these counts: every record is in some silo."""
    shares = random.dirichlet(np.full(silos, 3.0), size=len(counts))
    rows = [
        random.multinomial(row[:, None].astype(int).ravel(), share)
        for row, share in zip(counts, shares, strict=True)
    ]
    return np.moveaxis(np.array(rows), 2, 0)  # silos, groups, bins


def opened(plan, world):
    """What an auditor opens who is given all messages of a round."""
    vectors = {
        silo: silo_vector(plan, SiloNumbers(counts, dropped=0))
        for silo, counts in zip(plan.silos, world, strict=True)
    }
    rounds = Rounds(plan).share().mask_all(vectors)
    request = rounds.request()
    for silo in plan.silos:
        rounds.answer(silo, request)
    return rounds, open_sum(plan, rounds.inbox)


def taken_apart(plan, found, random):
    """The attack: every silo's histograms, in any order, from all that the sum holds.

    A part with a number for each bin that is not a count weighs the silos: bins of one record show
    the weights, and every other bin is an equation in whole numbers. Where there is no such part, it
    can only deal the records of the sum at random.
    """
    parts = Layout.of(plan).unpack(found.vector)
    counts = parts.pop("counts")
    guess = dealt(counts, len(found.survivors), random)
    for part in parts.values():
        if part.shape == counts.shape:
            for group, (row, weighed) in enumerate(zip(counts, part * UNIT, strict=True)):
                solve(guess[:, group], row, weighed)
    return guess


def solve(guess, row, weighed):
    silos = len(guess)
    weights = []
    for weight in np.sort(weighed[row == 1]):
        if not weights or weight - weights[-1] > 1e-6:
            weights.append(weight)
    if len(weights) != silos:
        return
    for at, (total, target) in enumerate(zip(row.tolist(), weighed.tolist(), strict=True)):
        fits = [
            each
            for each in splits(total, silos)
            if abs(np.dot(each, weights) - target) < 8 * silos * (1 + total) * UNIT
        ]
        if len(fits) == 1:
            guess[:, at] = fits[0]


def splits(total, silos):
    if total > 3:
        return
    if silos == 1:
        yield (total,)
        return
    for first in range(total + 1):
        yield from ((first, *rest) for rest in splits(total - first, silos - 1))


def likeness(guess, world):
    """How many bins that hold records are guessed, of the guess that fits each silo best."""
    held = world.sum(axis=0) > 0
    same = (guess[:, None] == world[None]) & held
    return same.sum(axis=3).max(axis=0).sum() / (held.sum() * len(world))


@pytest.mark.parametrize("groups", [2, 3])
def test_the_sum_is_not_taken_apart_better_than_by_chance(groups):
    """Truth, or another federation with the same sum: the attack is right about half the time."""
    right = trials = 0
    for silos in range(3, 11):
        plan = plan_of(silos, groups)
        for seed in range(3):
            random = np.random.default_rng([silos, seed])
            counts = random.poisson(0.9, (groups, BINS))
            truth, other = dealt(counts, silos, random), dealt(counts, silos, random)
            guess = taken_apart(plan, opened(plan, truth)[1], random)
            right += likeness(guess, truth) > likeness(guess, other)
            trials += 1

    assert binomtest(right, trials, 0.5, alternative="greater").pvalue > 0.01


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("silos", [3, 10])
def test_federations_with_the_same_sum_give_the_same_result(silos, groups):
    """All that is opened, and every byte of the result, is a function of the sum."""
    plan = plan_of(silos, groups)
    random = np.random.default_rng(silos)
    counts = random.poisson(3.0, (groups, BINS))
    rounds = [opened(plan, dealt(counts, silos, random)) for _ in range(2)]

    (first, one), (second, other) = rounds

    assert one.vector.tolist() == other.vector.tolist() == [*counts.ravel().tolist(), 0]
    results = [fp.audit(plan, each.sent, redraws=20) for each in (first, second)]
    assert results[0].to_json() == results[1].to_json()


class SplitLists:
    """An auditor and colluding silos show two lists, in one of which a victim has dropped out."""

    def __init__(self, silos, threshold, colluding):
        self.keys = {name: generate_key() for name in names(silos)}
        self.plan = plan_of(silos, keys=self.keys, bins=2, threshold=threshold)
        self.victim, *_ = honest = names(silos)[: silos - colluding]
        self.helpers = names(silos)[silos - colluding :]
        half = len(honest) // 2 or 1
        self.shown = {"all": honest[:half], "without": honest[half:]}
        self.rounds = Rounds(self.plan, self.keys).share()
        random = np.random.default_rng(0)
        length = Layout.of(self.plan).length
        self.vectors = {name: random.integers(0, 1000, length) for name in names(silos)}
        self.rounds.mask_all(self.vectors)
        self.key_set = KeySet.of(self.plan, self.rounds.of(SecureKeys))
        self.share_set = ShareSet.of(self.key_set, self.rounds.of(SecureShares))

    def request(self, listed):
        """The auditor's request to open the sum of these silos."""
        sent = {each.silo: each.digest for each in self.rounds.of(MaskedVector)}
        return UnmaskRequest(
            plan=self.plan.digest,
            key_set=self.key_set.digest,
            share_set=self.share_set.digest,
            survivors={silo: sent[silo] for silo in listed},
            software=SOFTWARE,
        )

    def gathered(self):
        """Shares of the victim's seed and of its key: those of helpers, and answers of the others."""
        held = {name: self.rounds.states[name].held[self.victim] for name in self.helpers}
        places = self.key_set.positions
        seeds = {places[name]: each.seed for name, each in held.items()}
        keys = {places[name]: each.key for name, each in held.items()}
        rest = [silo for silo in self.plan.silos if silo != self.victim]
        lists = {"all": self.request(self.plan.silos), "without": self.request(rest)}
        for which, request in lists.items():
            for name in (*self.shown[which], *self.helpers):  # helpers sign both lists
                made = consent(self.plan, self.rounds.states[name], request, key=self.keys[name])
                self.rounds.sent.append(made.message)
                if name in self.shown[which]:
                    self.rounds.states[name] = made.state
            for name in self.shown[which]:
                state = self.rounds.states[name]
                made = answer_request(
                    self.plan, state, request, self.rounds.inbox, key=self.keys[name]
                )
                answer = made.message
                if self.victim in answer.seeds:
                    seeds[places[name]] = answer.seeds[self.victim]
                else:
                    keys[places[name]] = answer.keys[self.victim]
        return seeds, keys

    def opened(self):
        """The victim's own vector, if both of its secrets can be rebuilt; None otherwise."""
        try:
            seeds, keys = self.gathered()
        except RoundError:
            return None
        threshold = self.plan.privacy.threshold
        if min(len(seeds), len(keys)) < threshold:
            return None
        seed, secret = (join(dict([*each.items()][:threshold])) for each in (seeds, keys))
        others = [silo for silo in self.plan.silos if silo != self.victim]
        mask = masked(
            np.zeros_like(self.vectors[self.victim]),
            self.victim,
            own_stream(self.key_set, seed, self.victim),
            {each: pair_stream(self.key_set, secret, self.victim, each) for each in others},
        )
        sent = next(e for e in self.rounds.of(MaskedVector) if e.silo == self.victim)
        return (sent.words - mask).view(np.int64)


THRESHOLDS = [(d, t) for d in range(3, 11) for t in range(2 * d // 3 + 1, d + 1)]


@pytest.mark.parametrize(("silos", "threshold"), THRESHOLDS)
def test_two_lists_open_no_silo_with_fewer_helpers_than_stated(silos, threshold):
    """2t - d silos are needed: with one fewer the attack gets nothing, with as many it works."""
    needed = 2 * threshold - silos

    assert SplitLists(silos, threshold, min(needed, silos - 1) - 1).opened() is None
    if threshold < silos:
        attack = SplitLists(silos, threshold, needed)
        assert attack.opened().tolist() == attack.vectors[attack.victim].tolist()


@pytest.mark.parametrize("silos", range(3, 31))
def test_a_plan_asks_for_more_than_two_thirds(silos):
    """So that more than a third must collude, whatever list of survivors is opened."""
    for threshold in range(2, silos + 1):
        if 3 * threshold > 2 * silos:
            assert plan_of(silos, threshold=threshold).privacy.threshold == threshold
            assert 3 * (2 * threshold - silos) > silos
        else:
            with pytest.raises(fp.errors.PlanError, match="more than two thirds"):
                plan_of(silos, threshold=threshold)
    assert plan_of(silos).privacy.threshold == 2 * silos // 3 + 1
