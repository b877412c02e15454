"""What does one training step cost, beside one of the same GNN on the observed graph?"""

import argparse
import time

import torch

from bpgnn.methods.registry import METHODS
from bpgnn.randomness import generator_for, seeded_globally
from bpgnn.training.plan import Plan
from bpgnn.training.problem import make_problem
from bpgnn.training.run import load_for


def seconds_a_step(plan: Plan, dataset: str, steps: int) -> float:
    """Measure CPU-seconds of forward, sampling, backward and Adam, as a median of fives."""
    settings = plan.settings_for(dataset)
    problem = make_problem(load_for(plan, dataset, None), settings)
    with seeded_globally(0):
        method = METHODS[plan.method].build(settings, problem)
    optimizer = torch.optim.Adam(method.parameter_groups(), lr=settings.learning_rate)
    generator = generator_for(0, 1)

    def step() -> None:
        output = method(problem, generator=generator)
        losses = method.losses(output, problem)
        optimizer.zero_grad()
        torch.stack(list(losses.values())).sum().backward()
        optimizer.step()
        method.observe(output, problem)

    step()  # compiles, warms caches
    times = []
    for _ in range(max(1, steps // 5)):
        start = time.process_time()
        for _ in range(5):
            step()
        times.append((time.process_time() - start) / 5)
    return sorted(times)[len(times) // 2]


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=["cora"])
    parser.add_argument("--steps", type=int, default=25)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print("| data set | BPGNN, CPU-seconds a step | the same GNN on the observed graph |")
    print("|---|---|---|")
    for dataset in arguments.datasets:
        ours = seconds_a_step(Plan(), dataset, arguments.steps)
        control = seconds_a_step(Plan(changes={"boolean_layers": 0}), dataset, arguments.steps)
        print(f"| {dataset} | {ours:.3f} | {control:.3f} |", flush=True)


if __name__ == "__main__":
    main()
