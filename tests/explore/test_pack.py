import gzip
import json

import numpy as np

from bpgnn.explore.pack import pack
from bpgnn.explore.scene import Scene


def unpacked(content: bytes) -> dict:
    """Read what `pack` wrote by its description, as the page does."""
    content = gzip.decompress(content)
    end = 8 + int.from_bytes(content[:8], "little")
    read = json.loads(content[8:end])
    for name, array in read.pop("arrays").items():
        dtype = np.dtype("<" + array["type"])
        assert (end + array["start"]) % dtype.itemsize == 0
        read[name] = np.frombuffer(content, dtype, array["length"], end + array["start"])
    return read


def test_all_of_a_scene_is_in_the_bytes(small):
    read = unpacked(pack(Scene(**small)))
    for name in ("title", "node_names", "class_names", "features"):
        assert read[name] == small[name]
    for name in ("labels", "predictions", "weight", "witness_pointer", "witness_nodes"):
        assert read[name].tolist() == small[name]
    for name in ("frequency", "witness_shares", "witness_similarity"):
        np.testing.assert_allclose(read[name] / 65535, small[name], atol=1e-5)
    np.testing.assert_allclose(read["confidence"], small["confidence"], rtol=1e-6)
    np.testing.assert_allclose(read["entropy"], small["entropy"], rtol=1e-6)
    assert np.stack([read["x"], read["y"]], 1).tolist() == small["places"]
    assert [read["first"].tolist(), read["second"].tolist()] == small["pairs"]
    assert [read["kinds"][kind] for kind in read["kind"]] == small["kind"]
    assert [read["parts"][part] for part in read["part"]] == small["part"]
    assert read["by_weight"].tolist() == [1, 0, 2]
    assert read["improbable_observed"].tolist() == [2, 0]
    assert read["certain_added"].tolist() == [1]
    assert read["figures"] == [["Homophily", 0.5, 0.75], ["Accuracy", None, 0.9]]


def test_the_same_scene_gives_the_same_bytes(small):
    assert pack(Scene(**small)) == pack(Scene(**small))
