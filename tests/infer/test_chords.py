"""The way along a curved space, from the straight chord between its two ends."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.infer.chords import hyperbolic_square, spherical_square

SQUARES = [hyperbolic_square, spherical_square]


def slope(square, chords):
    chords = chords.clone().requires_grad_()
    square(chords).sum().backward()
    return chords.grad


@given(distance=st.floats(1e-3, 30))
def test_a_hyperbolic_distance_comes_back_from_its_chord(distance):
    chord = torch.tensor((math.cosh(distance) - 1) / 2, dtype=torch.double)
    assert hyperbolic_square(chord).sqrt().item() == pytest.approx(distance, rel=1e-9)


@given(angle=st.floats(1e-3, math.pi - 1e-3))
def test_an_angle_comes_back_from_its_chord(angle):
    chord = torch.tensor(4 * math.sin(angle / 2) ** 2, dtype=torch.double)
    assert spherical_square(chord).sqrt().item() == pytest.approx(angle, rel=1e-9)


@given(exponent=st.floats(-30, -8))
def test_close_points_are_as_far_apart_as_in_flat_space_to_the_last_digits(exponent):
    chord = torch.tensor(10**exponent, dtype=torch.float)
    assert hyperbolic_square(chord).item() == pytest.approx(4 * chord.item(), rel=1e-6)
    assert spherical_square(chord).item() == pytest.approx(chord.item(), rel=1e-6)
    assert slope(hyperbolic_square, chord).item() == pytest.approx(4, rel=1e-6)
    assert slope(spherical_square, chord).item() == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_equal_points_are_at_zero_with_the_slope_of_flat_space(dtype):
    zero = torch.zeros(1, dtype=dtype)
    for square, expected in zip(SQUARES, (4.0, 1.0), strict=True):
        assert square(zero).item() == 0
        assert slope(square, zero).item() == expected


@pytest.mark.parametrize("square", SQUARES)
def test_slopes_are_those_of_differences(square):
    chords = torch.tensor([1e-2, 0.3, 1.7, 3.9], dtype=torch.double).requires_grad_()
    assert torch.autograd.gradcheck(square, (chords,))


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_at_the_antipode_and_beyond_by_rounding_the_distance_is_pi_and_the_slope_bounded(dtype):
    chords = torch.tensor([4.0, 4.000001, 4 - 1e-6], dtype=dtype)
    torch.testing.assert_close(
        spherical_square(chords).sqrt(), torch.full_like(chords, math.pi), atol=2e-3, rtol=0
    )
    steep = slope(spherical_square, chords)
    assert torch.isfinite(steep).all()
    assert (steep > 100).all()
    assert (steep < 2000).all()


@pytest.mark.parametrize("dtype", [torch.float, torch.double])
def test_the_longest_chords_of_the_ball_are_finite(dtype):
    chords = torch.tensor([1e4, 4e12, 1e30], dtype=dtype)
    assert torch.isfinite(hyperbolic_square(chords)).all()
    assert (slope(hyperbolic_square, chords) > 0).all()
