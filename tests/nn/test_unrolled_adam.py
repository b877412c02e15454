import torch

from bpgnn.nn.unrolled_adam import AdamState, adam_step


def test_steps_are_those_of_torch(generator):
    weights = tuple(torch.randn(shape, generator=generator) for shape in ((3, 2), (2,)))
    theirs = [weight.clone().requires_grad_() for weight in weights]
    optimizer = torch.optim.Adam(theirs, lr=0.03)
    state = AdamState.fresh(weights)
    for _ in range(7):
        gradients = tuple(torch.randn(one.shape, generator=generator) for one in weights)
        gradients[0][0, 0] = 0.0
        state = adam_step(state, gradients, 0.03)
        for weight, gradient in zip(theirs, gradients, strict=True):
            weight.grad = gradient
        optimizer.step()
    assert state.count == 7
    for found, expected in zip(state.weights, theirs, strict=True):
        torch.testing.assert_close(found, expected.detach())


def test_the_gradient_through_two_steps_is_that_of_finite_differences(generator):
    start = torch.randn(4, generator=generator).double()

    def walked(weight, scale, rate):
        state = AdamState.fresh((weight,))
        for _ in range(2):
            state = adam_step(state, (scale * state.weights[0] ** 3 + 1,), rate)
        return state.weights[0]

    inputs = (start, torch.ones(4).double(), torch.tensor(0.1).double())
    assert torch.autograd.gradcheck(walked, [one.requires_grad_() for one in inputs])


def test_a_weight_without_a_gradient_stays_and_gives_finite_gradients():
    gradient = torch.zeros(2, requires_grad=True)
    state = AdamState.fresh((torch.ones(2),))
    for _ in range(2):
        state = adam_step(state, (gradient,), 0.1)
    assert state.weights[0].tolist() == [1, 1]
    state.weights[0].sum().backward()
    assert torch.isfinite(gradient.grad).all()


def test_a_detached_state_has_the_same_values_and_no_past():
    weight = torch.ones(2, requires_grad=True)
    state = adam_step(AdamState.fresh((weight,)), (weight * 2,), 0.1)
    cut = state.detached()
    assert torch.equal(cut.weights[0], state.weights[0])
    assert cut.count == 1
    parts = (*cut.weights, *cut.means, *cut.squares)
    assert not any(part.requires_grad for part in parts)
