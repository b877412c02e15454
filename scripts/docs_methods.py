"""Write the reference of every registered method; a hook of mkdocs."""

from typing import Any

from bpgnn.methods.registry import METHODS

PAGE, PLACE = "reference/methods.md", "<!-- every method -->"
OPTIONS = "    options: { heading_level: 3, members: false, show_root_full_path: false }"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Put the sections in their place."""
    return markdown.replace(PLACE, sections()) if page.file.src_uri == PAGE else markdown


def sections() -> str:
    """Write one for each method: its class, and its settings after the last that has them."""
    parts = []
    names = list(METHODS)
    for place, name in enumerate(names):
        method = METHODS[name]
        settings = method.settings_type
        parts += [f"## `{name}`", _reference(method)]
        later = {METHODS[other].settings_type for other in names[place + 1 :]}
        # Settings that several files share have a place of their own on the page.
        if settings.__module__ == method.__module__ and settings not in later:
            parts.append(_reference(settings))
    return "\n\n".join(parts)


def _reference(found: type) -> str:
    return f"::: {found.__module__}.{found.__name__}\n{OPTIONS}"
