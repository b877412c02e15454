"""Every method keeps the contract; a method of one's own is held to the same checks."""

import pytest

from bpgnn.methods.registry import METHODS
from bpgnn.testing import METHOD_CHECKS

# The classifier of SLAPS learns from the end of the warm-up on.
QUICK = {"slaps": {"warm_up": 4}}


@pytest.mark.parametrize("check", METHOD_CHECKS)
@pytest.mark.parametrize("name", METHODS)
def test_the_method_keeps_the_contract(name, check):
    method = METHODS[name]
    METHOD_CHECKS[check](method, method.preset("tuned", "my own").changed(QUICK.get(name, {})))


@pytest.mark.parametrize("check", METHOD_CHECKS)
def test_bpgnn_with_evidence_for_its_edges_keeps_the_contract(check):
    method = METHODS["bpgnn"]
    METHOD_CHECKS[check](method, method.preset("tuned", "my own").changed({"edge_evidence": True}))
