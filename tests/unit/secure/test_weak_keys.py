"""Keys that protect nothing are refused: in a plan when it is read, in a round before anything is shared."""

from base64 import b64encode
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from tests.secure_rounds import Rounds, secure_plan

import fedparity as fp
from fedparity.documents.fields import is_weak
from fedparity.documents.signing import generate_key, public_text
from fedparity.errors import SecureMessageError
from fedparity.modes.secure import silo_steps as steps
from fedparity.modes.secure.round_checks import Inbox

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def add(one, other):
    """The sum of two points of the Edwards curve, by its own law."""
    (x1, y1), (x2, y2) = one, other
    product = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, P) % P
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, P) % P
    return x, y


def times(number, point):
    total = (0, 1)
    while number:
        if number & 1:
            total = add(total, point)
        point, number = add(point, point), number >> 1
    return total


def lifted(y):
    """A point with this y, if there is one."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return (x, y) if (x * x - square) % P == 0 else None


def small_order():
    """The eight points that 8 times give the neutral element, found by multiplying others."""
    points = set()
    for y in range(2, 200):
        point = lifted(y)
        if point is not None:
            torsion = times(ORDER, point)
            points |= {times(number, torsion) for number in range(8)}
    return sorted(points)


def encoded(y, sign):
    return (y | sign << 255).to_bytes(32, "little")


def written(y):
    """Every way to write a y, those that are not usual included."""
    return [encoded(each, sign) for each in (y, y + P) if each < 2**255 for sign in (0, 1)]


def base64(key):
    return b64encode(key).decode()


def plan(keys):
    return fp.Plan(title="Q4", groups=("A", "B"), score_range=(0, 1), keys=keys)


def test_every_key_of_small_order_is_refused_however_it_is_written():
    points = small_order()
    weak = {key for _, y in points for key in written(y)}

    assert len(points) == 8
    for key in weak:
        with pytest.raises(fp.errors.PlanError, match="anybody could sign"):
            plan({"a": base64(key)})


def test_under_a_key_of_small_order_anybody_can_sign():
    """Why they are refused: R the key's own neutral element and S = 0 fit some messages."""
    neutral = encoded(1, 0)

    Ed25519PublicKey.from_public_bytes(neutral).verify(neutral + bytes(32), b"any message")


def test_keys_that_silos_make_are_accepted():
    assert not any(is_weak(generate_key().public_key().public_bytes_raw()) for _ in range(200))


def test_one_key_for_two_silos_is_refused_also_with_its_sign_turned():
    key = generate_key().public_key().public_bytes_raw()
    turned = key[:31] + bytes([key[31] ^ 128])

    for other in (key, turned):
        with pytest.raises(fp.errors.PlanError, match="'a' and 'b' have the same public key"):
            plan({"a": base64(key), "b": base64(other), "c": public_text(generate_key())})


U_OF_SMALL_ORDER = {0, 1, P - 1} | {
    (1 + y) * pow(1 - y, -1, P) % P for _, y in small_order() if y != 1
}
"""Of X25519: the same points by u = (1 + y) / (1 - y), and -1, of the curve's twist."""


@pytest.fixture(scope="module")
def started():
    """A plan, and the keys and states of three silos."""
    plan = secure_plan(3)
    rounds = Rounds(plan)
    for silo in plan.silos:
        rounds.take(steps.publish_keys(plan, silo))
    return plan, rounds


def shared(started, field, key):
    """The first silo shares its secrets with others, of which one has another key."""
    plan, rounds = started
    first, second, third = rounds.sent
    inbox = Inbox((first, replace(second, **{field: key}), third))
    return steps.share_secrets(plan, rounds.states[first.silo], inbox)


@pytest.mark.parametrize("field", ["mask_key", "share_key"])
def test_a_round_with_a_key_of_small_order_shares_nothing(started, field):
    assert len(U_OF_SMALL_ORDER) == 5
    for u in U_OF_SMALL_ORDER:
        for key in written(u):
            with pytest.raises(SecureMessageError, match="cannot be used to agree on a secret"):
                shared(started, field, key)


@pytest.mark.parametrize("field", ["mask_key", "share_key"])
@pytest.mark.parametrize("top", [0, 128])
def test_a_round_with_one_key_for_two_silos_shares_nothing(started, field, top):
    """X25519 passes over the highest bit, so that the key is the same with it."""
    key = started[1].sent[0].mask_key

    with pytest.raises(SecureMessageError):
        shared(started, field, key[:31] + bytes([key[31] | top]))
