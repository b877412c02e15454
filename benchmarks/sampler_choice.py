"""What does one sampled graph of Cora cost, by each sampler and at each temperature?"""

import time

import torch

from bpgnn.infer.sample.choose import SAMPLERS
from bpgnn.methods.registry import METHODS
from bpgnn.randomness import generator_for, seeded_globally
from bpgnn.training.plan import Plan
from bpgnn.training.problem import make_problem
from bpgnn.training.run import load_for

TEMPERATURES = (-2.0, 0.0, 1.0, 3.0)


def milliseconds(sampler: str, temperature: float, num_samples: int) -> float:
    """Measure CPU time of sampling from an untrained model's first product."""
    plan = Plan(changes={"temperature": temperature})
    settings = plan.settings_for("cora")
    problem = make_problem(load_for(plan, "cora", None), settings)
    with seeded_globally(0):
        method = METHODS["bpgnn"].build(settings, problem)
    generator = generator_for(0, 1)
    output = method(problem, generator=generator)
    probabilities = output.detail[0][0].inference.probabilities
    draw = SAMPLERS[sampler]()
    draw.sample(probabilities, settings.k, generator=generator)  # compiles, warms caches
    start = time.process_time()
    for _ in range(3):
        draw.sample(probabilities, settings.k, generator=generator, num_samples=num_samples)
    return (time.process_time() - start) / 3 * 1e3


def main() -> None:
    """Print one table."""
    torch.set_num_threads(1)
    print("| sampler | samples |" + "".join(f" 1/φ = e^{t:g} |" for t in TEMPERATURES))
    print("|---|---|" + "---|" * len(TEMPERATURES))
    for sampler in SAMPLERS:
        for num_samples in (1, 10):
            cells = [milliseconds(sampler, t, num_samples) for t in TEMPERATURES]
            print(f"| {sampler} | {num_samples} |" + "".join(f" {cell:.0f} |" for cell in cells))


if __name__ == "__main__":
    main()
