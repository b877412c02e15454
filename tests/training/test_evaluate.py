import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, log_loss

from bpgnn.method import MethodSettings, Output
from bpgnn.training.evaluate import predict, score


@st.composite
def predictions(draw):
    """Draw probabilities and labels; some labels unknown, some classes perhaps absent."""
    num_nodes, num_classes = draw(st.integers(2, 20)), draw(st.integers(2, 4))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    labels = draw(
        st.lists(st.integers(-1, num_classes - 1), min_size=num_nodes, max_size=num_nodes)
    )
    mask = draw(st.lists(st.booleans(), min_size=num_nodes, max_size=num_nodes))
    labels[0], mask[0] = 0, True
    logits = torch.randn(num_nodes, num_classes, generator=generator, dtype=torch.double)
    return logits.softmax(1), torch.tensor(labels), torch.tensor(mask)


# scikit-learn warns where the guesses hold a class that the labels do not; we agree quietly.
@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true:UserWarning")
@pytest.mark.filterwarnings("ignore:A single label was found:UserWarning")
@given(predictions())
def test_all_figures_are_those_of_scikit_learn(drawn):
    probabilities, labels, mask = drawn
    found = score(probabilities, labels, mask)
    known = mask & (labels >= 0)
    actual, sure = labels[known].numpy(), probabilities[known].numpy()
    guess = sure.argmax(1)
    classes = list(range(probabilities.size(1)))
    assert found.accuracy == pytest.approx(accuracy_score(actual, guess))
    assert found.macro_f1 == pytest.approx(f1_score(actual, guess, average="macro"))
    assert found.balanced_accuracy == pytest.approx(balanced_accuracy_score(actual, guess))
    assert found.loss == pytest.approx(log_loss(actual, sure, labels=classes))


def test_a_probability_of_zero_costs_much_but_not_infinitely_much():
    found = score(torch.tensor([[1.0, 0.0]]), torch.tensor([1]), torch.tensor([True]))
    assert 20 < found.loss < 100


def test_prediction_runs_in_evaluation_mode_without_gradients_over_all_samples():
    class Spy(torch.nn.Module):
        settings = MethodSettings(num_samples=7)

        def forward(self, problem, *, generator, num_samples):
            assert not self.training
            assert not torch.is_grad_enabled()
            return Output(torch.zeros(num_samples, 1, 2))

    assert len(predict(Spy().train(), None, generator=torch.Generator()).logits) == 7
