from pathlib import Path

import numpy as np
import pytest


def write_shop(folder: Path, num_customers: int = 5000, num_labels: int = 300) -> Path:
    """Write customers of three kinds, few of them labelled, and whom they know, noisily.

    Columns lean towards the kind of a customer, and so do two thirds of the edges; among these
    are duplicates, self-loops and single directions.
    """
    generator = np.random.default_rng(7)
    kind = generator.integers(3, size=num_customers)
    kinds = np.array(["loyal", "new", "leaving"])
    labels = np.full(num_customers, "", dtype=object)
    chosen = generator.permutation(num_customers)[:num_labels]
    labels[chosen] = kinds[kind[chosen]]
    city = np.array(["Bern", "Basel", "Zürich, West", "<script>", "=cmd|' /C calc'!A0"])
    shifted = kind + generator.integers(3, size=num_customers)
    columns = {
        "Customer ID": [f"C-{number:05d}" for number in range(num_customers)],
        "age": generator.normal(35 + 8 * kind, 9).round(1),
        "spent": (generator.lognormal(3 + 0.4 * kind, 1)).round(2),
        "city": city[shifted],
        "newsletter": generator.random(num_customers) < 0.3 + 0.2 * kind,
        "segment": labels,
    }
    folder.mkdir(parents=True, exist_ok=True)
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(quoted, row)) for row in rows)]
    (folder / "nodes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    first, second = generator.integers(num_customers, size=(2, 6 * num_customers))
    keep = (kind[first] == kind[second]) | (generator.random(first.size) < 0.25)
    first, second = first[keep], second[keep]
    edges = [(f"C-{a:05d}", f"C-{b:05d}") for a, b in zip(first, second, strict=True)]
    edges += [*edges[:25], *((b, a) for a, b in edges[:40]), ("C-00003", "C-00003")]
    text = "source,target\n" + "".join(f"{one},{other}\n" for one, other in edges)
    (folder / "edges.csv").write_text(text, encoding="utf-8")
    return folder


def quoted(cell: object) -> str:
    text = str(cell)
    return f'"{text}"' if "," in text else text


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a shop with 5 000 customers."""
    return write_shop(tmp_path_factory.mktemp("own") / "shop")


@pytest.fixture
def write(tmp_path: Path):
    """Write a file of text into an own folder, and return its path."""

    def put(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return put
