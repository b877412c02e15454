"""A scene as one run of compressed bytes that a page can carry."""

import gzip
import json

import numpy as np

from bpgnn.explore.notable import certain_added, improbable_observed
from bpgnn.explore.scene import KINDS, PARTS, Scene

NUM_NOTABLE = 12

# A browser reads an array in place only where it begins at a multiple of its width.
_ALIGNMENT = 8

# Shares take two bytes: 0 to 65535 stands for 0 to 1. Half the size, and closer than is shown.
_WHOLE_SHARE = 65535


def pack(scene: Scene) -> bytes:
    """Turn a scene into compressed bytes; the same scene gives the same bytes.

    Uncompressed: the length of a description, the description (JSON: all words, and each
    array's type, start and length), then the arrays, little-endian. `data.js` reads it.

    Args:
        scene: What is looked at.

    Returns:
        The bytes, compressed by gzip.
    """
    arrays, body, start = {}, [], 0
    for name, array in _arrays(scene).items():
        content = np.ascontiguousarray(array).tobytes()
        padding = -len(content) % _ALIGNMENT
        arrays[name] = {"type": array.dtype.str[1:], "start": start, "length": array.size}
        body += [content, bytes(padding)]
        start += len(content) + padding
    description = json.dumps({**_words(scene), "arrays": arrays}).encode()
    description += b" " * (-len(description) % _ALIGNMENT)
    length = np.array([len(description)], dtype="<u8").tobytes()
    return gzip.compress(b"".join([length, description, *body]), compresslevel=6, mtime=0)


def _words(scene: Scene) -> dict[str, object]:
    return {
        "title": scene.title,
        "node_names": scene.node_names.tolist(),
        "class_names": scene.class_names.tolist(),
        "features": scene.features.tolist(),
        "kinds": KINDS,
        "parts": PARTS,
        "figures": [[one.words, one.before, one.after] for one in scene.figures],
    }


def _arrays(scene: Scene) -> dict[str, np.ndarray]:
    return {
        "x": scene.places[:, 0].astype("<f4"),
        "y": scene.places[:, 1].astype("<f4"),
        "labels": scene.labels.astype("<i4"),
        "predictions": scene.predictions.astype("<i4"),
        "confidence": scene.confidence.astype("<f4"),
        "entropy": scene.entropy.astype("<f4"),
        "part": _numbers_of(scene.part, PARTS),
        "first": scene.pairs[0].astype("<i4"),
        "second": scene.pairs[1].astype("<i4"),
        "kind": _numbers_of(scene.kind, KINDS),
        "weight": scene.weight.clip(max=1).astype("<f4"),
        "frequency": _shares(scene.frequency),
        "by_weight": np.argsort(-scene.weight, kind="stable").astype("<i4"),
        "witness_pointer": scene.witness_pointer.astype("<i4"),
        "witness_nodes": scene.witness_nodes.astype("<i4"),
        "witness_shares": _shares(scene.witness_shares),
        "witness_similarity": _shares(scene.witness_similarity),
        "improbable_observed": improbable_observed(scene, NUM_NOTABLE).astype("<i4"),
        "certain_added": certain_added(scene, NUM_NOTABLE).astype("<i4"),
    }


def _numbers_of(words: np.ndarray, known: tuple[str, ...]) -> np.ndarray:
    order = np.argsort(known)
    return order[np.searchsorted(np.array(known)[order], words)].astype("u1")


def _shares(values: np.ndarray) -> np.ndarray:
    return np.rint(values.clip(max=1) * _WHOLE_SHARE).astype("<u2")
