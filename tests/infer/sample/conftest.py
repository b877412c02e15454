import pytest

from tests.infer.sample.samplers import BUILD


@pytest.fixture(params=BUILD)
def sampler(request):
    return BUILD[request.param]()
