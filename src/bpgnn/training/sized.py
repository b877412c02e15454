"""Settings for one's own data by their size, so that nobody waits for an hour unasked."""

from dataclasses import replace

from bpgnn.training.plan import Plan

# A graph of 100 000 nodes is sampled in 7 CPU-seconds with 4 dimensions, and in 50 with 16
# (results/sampler.jsonl). From as many nodes on:
_BY_SIZE: tuple[tuple[int, dict[str, object]], ...] = (
    (10_000, {"latent_dim": 4, "validation_samples": 2, "evaluate_every": 20, "max_steps": 200}),
    (3_000, {"validation_samples": 3, "patience": 100, "max_steps": 300}),
)


def sized(plan: Plan, num_nodes: int) -> Plan:
    """Have tuned BPGNN validate by fewer samples and take fewer steps where nodes are many.

    Args:
        plan: What was asked for; what it settles itself stays.
        num_nodes: Nodes of one's own data. The published data have settings of their own.

    Example:
        >>> sized(Plan(changes={"max_steps": 7}), 5_000).changes
        {'validation_samples': 3, 'patience': 100, 'max_steps': 7}
    """
    if (plan.method, plan.preset) != ("bpgnn", "tuned"):
        return plan
    for least, changes in _BY_SIZE:
        if num_nodes >= least:
            return replace(plan, changes={**changes, **(plan.changes or {})})
    return plan
