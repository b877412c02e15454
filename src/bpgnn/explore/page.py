"""One HTML file to explore a latent graph; it needs no network."""

import base64
import hashlib
import html
import json
import os
import re
import tempfile
from importlib.resources import files
from pathlib import Path

from bpgnn.errors import InputError
from bpgnn.explore.canvas import LAYERS, empty_drawing
from bpgnn.explore.pack import pack
from bpgnn.explore.scene import Scene

_SCRIPTS = (
    "data.js",
    "colours.js",
    "pairs.js",
    "plot.js",
    "triangles.js",
    "panel.js",
    "controls.js",
    "main.js",
)


def write_page(scene: Scene, path: str | os.PathLike[str]) -> Path:
    """Write a scene as one HTML file to open in a browser, whole or not at all.

    Args:
        scene: What to look at.
        path: The file, replaced if it exists.

    Returns:
        The file.

    Raises:
        InputError: If Bokeh is not installed, or the file cannot be written.
    """
    content = as_html(scene).encode()
    path = Path(path)
    try:
        _replace(path, content)
    except OSError as error:
        raise InputError(
            f"{path} could not be written ({error.strerror or error}). Free some space, or choose "
            "a folder that you may write to."
        ) from error
    return path


def as_html(scene: Scene) -> str:
    """Write a scene as HTML; all it shows is within it.

    The scene goes in as compressed bytes in base64, and the page's script shows its words as
    text, so nothing in them can be taken for HTML. A content security policy allows only the
    scripts put in here and forbids every request.

    Args:
        scene: What to look at.

    Raises:
        InputError: If Bokeh is not installed.
    """
    drawing, library = empty_drawing()
    own = "\n".join(_read(name) for name in _SCRIPTS)
    scripts = [*library, f'"use strict";\n(() => {{\n{own}\n}})();\n']
    parts = {
        "policy": _policy(scripts),
        "title": html.escape(scene.title),
        "style": _read("page.css"),
        "drawing": json.dumps(drawing).replace("<", "\\u003c"),
        "scene": base64.b64encode(pack(scene)).decode(),
        "scripts": "".join(f"<script>{script}</script>\n" for script in scripts),
        **{f"{name}_colour": style["line_color"] for name, style in LAYERS.items()},
    }
    return re.sub(r"\{\{ (\w+) \}\}", lambda found: parts[found[1]], _read("page.html"))


def _policy(scripts: list[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(one.encode()).digest()) for one in scripts)
    allowed = " ".join(f"'sha256-{digest.decode()}'" for digest in digests)
    # Bokeh makes its WebGL calls from text, hence 'unsafe-eval'.
    return (
        f"default-src 'none'; script-src {allowed} 'unsafe-eval'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _read(name: str) -> str:
    return files("bpgnn.explore").joinpath("page", name).read_text(encoding="utf-8")


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
