"""How large is the page of a latent graph, and how soon does it open in Chromium?"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.spatial

from bpgnn.explore.page import write_page
from bpgnn.explore.scene import BeforeAfter, Scene

# Of Cora and of PubMed: nodes, pairs, classes.
SIZES = {"Cora": (2708, 25_000, 7), "PubMed": (19_717, 150_000, 3)}
CORA_CLASSES = [
    "Case based",
    "Genetic algorithms",
    "Neural networks",
    "Probabilistic methods",
    "Reinforcement learning",
    "Rule learning",
    "Theory",
]


def made_up_scene(name: str, num_nodes: int, num_pairs: int, num_classes: int) -> Scene:
    """Make clustered points, near ones of them paired, with witnesses between most."""
    draw = np.random.default_rng(0)
    labels = draw.integers(num_classes, size=num_nodes)
    angle = 2 * np.pi * (labels + draw.integers(3, size=num_nodes) / 4) / num_classes
    centre = np.stack([np.cos(angle), np.sin(angle)], 1) * draw.choice([3, 5], size=(num_nodes, 1))
    places = centre + draw.normal(size=(num_nodes, 2)) * 0.9
    near = num_pairs * 2 // num_nodes + 3
    _, other = scipy.spatial.cKDTree(places).query(places, k=near + 1)
    pairs = np.stack([np.repeat(np.arange(num_nodes), near), other[:, 1:].ravel()])
    far = draw.integers(num_nodes, size=(2, num_pairs // 40))
    pairs = np.sort(np.concatenate([pairs, far[:, far[0] != far[1]]], 1), axis=0)
    pairs = np.unique(pairs, axis=1)
    pairs = pairs[:, np.sort(draw.permutation(pairs.shape[1])[:num_pairs])]
    kind = draw.choice(["kept", "added", "dropped"], p=[0.18, 0.79, 0.03], size=pairs.shape[1])
    length = np.linalg.norm(places[pairs[0]] - places[pairs[1]], axis=1)
    weight = np.where(kind == "dropped", 0.02, 1) * np.exp(-4 * length * draw.random(length.size))
    frequency = np.where(kind == "dropped", 0, np.round(weight * 10) / 10)
    counts = draw.integers(6, size=pairs.shape[1])
    pointer = np.concatenate([[0], counts.cumsum()])
    ends = np.repeat(pairs[0], counts)
    shares = draw.random(ends.size)
    total = np.repeat(np.add.reduceat(np.append(shares, 0), pointer[:-1]), counts)
    predictions = np.where(draw.random(num_nodes) < 0.85, labels, (labels + 1) % num_classes)
    confidence = draw.beta(6, 2, size=num_nodes)
    classes = [f"Diabetes type {c + 1}" for c in range(num_classes)]
    return Scene(
        title=f"The latent graph of {name}",
        node_names=[f"paper {number}" for number in draw.permutation(num_nodes) + 1000],
        places=places,
        class_names=CORA_CLASSES if num_classes == len(CORA_CLASSES) else classes,
        labels=np.where(draw.random(num_nodes) < 0.05, -1, labels),
        predictions=predictions,
        confidence=confidence,
        entropy=np.log(num_classes) * (1 - confidence),
        part=draw.choice(["train", "validation", "test", ""], size=num_nodes),
        features=[f"word {a}: 1, word {b}: 1" for a, b in draw.integers(1433, size=(num_nodes, 2))],
        pairs=pairs,
        kind=kind,
        weight=weight,
        frequency=frequency,
        witness_pointer=pointer,
        witness_nodes=other[ends, draw.integers(1, near, size=ends.size)],
        witness_shares=shares / np.maximum(total, 1e-9),
        witness_similarity=draw.beta(5, 2, size=ends.size),
        figures=(
            BeforeAfter("Homophily", 0.810, 0.873),
            BeforeAfter("Accuracy on test nodes", 0.814, 0.849),
        ),
    )


def opening_time(path: Path) -> tuple[float, float]:
    """Return the seconds until the page is ready, and those of one redraw."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        start = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        opened = time.perf_counter() - start
        start = time.perf_counter()
        for _ in range(5):
            page.locator("#closer").click()
            page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        redrawn = (time.perf_counter() - start) / 5
        browser.close()
    return opened, redrawn


def main() -> None:
    """Print a table; keep the pages where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="folder to leave the pages in")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    print("| size | nodes | pairs | file MB | seconds to write | seconds to open | redraw ms |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        for name, size in SIZES.items():
            scene = made_up_scene(name, *size)
            start = time.perf_counter()
            path = write_page(scene, (arguments.keep or Path(temporary)) / f"{name}.html")
            written = time.perf_counter() - start
            times = np.array([opening_time(path) for _ in range(arguments.repeat)])
            opened, redrawn = np.median(times, axis=0)
            print(
                f"| {name} | {scene.num_nodes:,} | {scene.num_pairs:,} | "
                f"{path.stat().st_size / 1e6:.1f} | {written:.1f} | {opened:.1f} | "
                f"{1000 * redrawn:.0f} |"
            )


if __name__ == "__main__":
    main()
