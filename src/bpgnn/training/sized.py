"""Settings for one's own data by their size, so that nobody waits for an hour unasked."""

from dataclasses import replace

from bpgnn.training.plan import Plan

# A graph of 100 000 nodes is sampled in 7 CPU-seconds with 4 dimensions, and in 50 with 16
# (results/sampler.jsonl). From as many nodes on:
_BY_SIZE: tuple[tuple[int, dict[str, object]], ...] = (
    (10_000, {"latent_dim": 4, "validation_samples": 2, "evaluate_every": 20, "max_steps": 200}),
    (3_000, {"validation_samples": 3, "patience": 100, "max_steps": 300}),
)


def sized(plan: Plan, dataset: str, num_nodes: int) -> tuple[Plan, tuple[str, ...]]:
    """Fit a plan to one's own data; the published data have settings of their own.

    Where nodes are many, tuned BPGNN validates by fewer samples and takes fewer steps. Where
    they are few, no node is joined with more than all others.

    Args:
        plan: What was asked for; of that only a `k` that cannot be is changed.
        dataset: The data's name.
        num_nodes: How many nodes there are, N.

    Returns:
        The plan, and a note where `k` was lowered.

    Example:
        >>> sized(Plan(changes={"max_steps": 7}), "mine", 5_000)[0].changes
        {'validation_samples': 3, 'patience': 100, 'max_steps': 7}
        >>> sized(Plan("knn-gcn"), "mine", 10)[1]
        ('`k` is 9 instead of 20: of 10 nodes each has 9 others.',)
    """
    plan, most = _quickened(plan, num_nodes), num_nodes - 1
    k = getattr(plan.settings_for(dataset), "k", 0)
    if k <= most:
        return plan, ()
    note = f"`k` is {most} instead of {k}: of {num_nodes} nodes each has {most} others."
    return replace(plan, changes={**(plan.changes or {}), "k": most}), (note,)


def _quickened(plan: Plan, num_nodes: int) -> Plan:
    if (plan.method, plan.preset) != ("bpgnn", "tuned"):
        return plan
    for least, changes in _BY_SIZE:
        if num_nodes >= least:
            return replace(plan, changes={**changes, **(plan.changes or {})})
    return plan
