from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest
import torch
from torch import nn

from bpgnn.errors import InputError
from bpgnn.graph import Graph
from bpgnn.method import Method, MethodSettings, Output, Problem
from bpgnn.nn.sparse import SparseMatrix


@dataclass(frozen=True, kw_only=True)
class Every(MethodSettings):
    """A setting of every type there is."""

    count: int = 1
    share: float = 0.5
    bold: bool = False
    widths: tuple[int, ...] = (64, 64)
    width: int | None = None
    colour: Literal["red", "blue"] = "red"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("count", "7", 7),
        ("count", " 7 ", 7),
        ("share", "0.25", 0.25),
        ("share", "1e-3", 1e-3),
        ("share", "2", 2.0),
        ("bold", "true", True),
        ("bold", "Yes", True),
        ("bold", "1", True),
        ("bold", "FALSE", False),
        ("bold", "no", False),
        ("bold", "0", False),
        ("widths", "32,16", (32, 16)),
        ("widths", "(32, 16, 8)", (32, 16, 8)),
        ("widths", "[32]", (32,)),
        ("widths", "", ()),
        ("width", "none", None),
        ("width", "None", None),
        ("width", "12", 12),
        ("colour", "blue", "blue"),
        ("max_steps", "5", 5),
    ],
)
def test_text_is_read_as_the_type_of_the_setting(name, text, value):
    found = getattr(Every().changed({name: text}), name)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("count", 7, 7),
        ("share", 2, 2),
        ("bold", True, True),
        ("widths", (8, 4), (8, 4)),
        ("widths", [8, 4], (8, 4)),
        ("width", None, None),
        ("width", 3, 3),
        ("colour", "blue", "blue"),
        ("count", np.int64(7), 7),
        ("share", np.float32(0.5), 0.5),
    ],
)
def test_values_of_the_right_type_are_taken_as_they_are(name, value, kept):
    found = getattr(Every().changed({name: value}), name)
    assert found == kept
    assert type(found) is type(kept)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("count", "seven", "`count` must be a whole number, but got 'seven'."),
        ("count", "1.5", "`count` must be a whole number, but got '1.5'."),
        ("count", "none", "`count` must be a whole number, but got 'none'."),
        ("count", 1.5, "`count` must be a whole number, but got 1.5."),
        ("count", None, "`count` must be a whole number, but got None."),
        ("count", True, "`count` must be a whole number, but got True."),
        ("share", "half", "`share` must be a finite number, but got 'half'."),
        ("share", (0.5,), "`share` must be a finite number, but got (0.5,)."),
        ("bold", "perhaps", "`bold` must be true or false, but got 'perhaps'."),
        ("bold", 1, "`bold` must be true or false, but got 1."),
        ("widths", "32,x", "`widths` must be whole numbers with commas between, but got '32,x'."),
        ("widths", (1, "x"), "`widths` must be whole numbers with commas between, but got (1, 'x'"),
        ("widths", 32, "`widths` must be whole numbers with commas between, but got 32."),
        ("width", "wide", "`width` must be a whole number or none, but got 'wide'."),
        ("colour", "blu", "`colour` cannot be 'blu'. Did you mean blue? Known: red, blue."),
        ("colour", 3, "`colour` cannot be '3'. Known: red, blue."),
        ("coutn", "3", "There is no setting 'coutn'. Did you mean count? Known: "),
        ("learning-rat", "3", "There is no setting 'learning-rat'. Did you mean learning_rate?"),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_a_sentence(name, value, words):
    with pytest.raises(InputError) as caught:
        Every().changed({name: value})
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning_rate", "0"),
        ("learning_rate", "-1"),
        ("learning_rate", "nan"),
        ("learning_rate", "inf"),
        ("weight_decay", "-0.1"),
        ("weight_decay", "nan"),
        ("weight_decay", "inf"),
        ("max_steps", "0"),
        ("patience", "-5"),
        ("evaluate_every", "0"),
        ("num_samples", "0"),
        ("share", "nan"),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(name, value):
    with pytest.raises(InputError, match=rf"^`{name}` must be .*, but got {value}"):
        Every().changed({name: value})


def test_the_constructor_checks_as_well():
    with pytest.raises(InputError, match="`max_steps` must be a whole number"):
        MethodSettings(max_steps="5")


def test_changing_nothing_changes_nothing_and_settings_stay_frozen():
    settings = Every()
    assert settings.changed({}) == settings
    assert settings.changed({"count": "2"}) != settings
    with pytest.raises(AttributeError):
        settings.count = 2


def problem_of(features, graph=None):
    return Problem(features, torch.tensor([0, 1, -1]), graph, torch.tensor([0, 1]), 2)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_problem_counts_nodes_and_features(sparse):
    features = torch.ones(3, 4)
    if sparse:
        features = SparseMatrix.from_csr(features.to_sparse_csr())
    problem = problem_of(features)
    assert (problem.num_nodes, problem.num_features) == (3, 4)


@pytest.mark.parametrize(
    ("graph", "seen"),
    [(None, False), (Graph.empty(3), False), (Graph(torch.tensor([[0], [1]]), 3), True)],
)
def test_a_graph_without_edges_is_no_observation(graph, seen):
    problem = problem_of(torch.zeros(3, 1), graph)
    assert problem.observed is (graph if seen else None)


def test_probabilities_are_the_mean_of_softmaxes_and_not_the_softmax_of_means():
    logits = torch.tensor([[[0.0, 0.0]], [[0.0, 100.0]]])
    torch.testing.assert_close(Output(logits).probabilities(), torch.tensor([[0.25, 0.75]]))


class Linear(Method):
    """The smallest method there is."""

    citation = "@misc{none}"
    graph_use = "ignored"
    infers_graph = False

    def __init__(self, settings, problem):
        super().__init__()
        self.settings = settings
        self.map = nn.Linear(problem.num_features, problem.num_classes)
        self.temperature = nn.Parameter(torch.tensor(1.0))

    @classmethod
    def preset(cls, name, dataset):
        return MethodSettings()

    @classmethod
    def build(cls, settings, problem):
        return cls(settings, problem)

    @classmethod
    def memory(cls, settings, sizes):
        return 8 * sizes.num_values

    def forward(self, problem, *, generator, num_samples=1, draws=None):
        return Output(self.map(problem.features).unsqueeze(0))

    def losses(self, output, problem):
        return {"task": output.logits.square().mean()}


def test_vectors_decay_and_scalars_such_as_temperatures_do_not():
    method = Linear(MethodSettings(weight_decay=0.1), problem_of(torch.ones(3, 4)))
    shrinking, others = method.parameter_groups()
    assert shrinking["weight_decay"] == 0.1
    assert {id(p) for p in shrinking["params"]} == {id(p) for p in method.map.parameters()}
    assert others["weight_decay"] == 0.0
    assert others["params"] == [method.temperature]


def test_a_method_that_samples_nothing_has_no_sampler_and_observes_nothing():
    problem = problem_of(torch.ones(3, 4))
    method = Linear(MethodSettings(), problem)
    assert method.sampler_name is None
    output = method(problem, generator=torch.Generator())
    assert method.observe(output, problem) is None
    assert method.latent_graphs(output) == ()
    assert method.rate_factor(1000) == 1.0


def test_a_method_must_say_what_it_does():
    with pytest.raises(TypeError, match="abstract"):
        Method()
