"""Turn the docstrings' formulas and references into what the documentation site can show."""

# ruff: noqa: RUF001  these signs are meant

import html
import re
import unicodedata
from typing import Any

import griffe

_SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "eta": "η", "theta": "θ", "lambda": "λ", "nu": "ν", "pi": "π", "sigma": "σ", "tau": "τ",
    "phi": "φ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ",
    "sum": "Σ", "prod": "Π", "nabla": "∇", "partial": "∂", "infty": "∞", "top": "⊤",
    "in": "∈", "cap": "∩", "cup": "∪", "wedge": "∧", "bigvee": "⋁", "le": "≤", "ge": "≥",
    "neq": "≠", "sim": "∼", "propto": "∝", "gets": "←", "to": "→", "mapsto": "↦",
    "cdot": "·", "times": "×", "odot": "⊙", "diamond": "⋄", "dots": "…",
    "langle": "⟨", "rangle": "⟩", "|": "‖", "{": "{", "}": "}",
    "quad": "\u2003", "qquad": "\u2003\u2003", ",": "\u2009", ";": "\u2009", "!": "", " ": " ",
    "left": "", "right": "", "big": "", "Big": "",
}  # fmt: skip
_ACCENTS = {"hat": "\u0302", "tilde": "\u0303", "bar": "\u0304"}
_UPRIGHT = {"text", "mathrm", "operatorname", "mathcal", "mathbf"}
_TOKEN = re.compile(r"\\([A-Za-z]+|.)|([{}_^])|(\s+)|(.)", re.DOTALL)

_FORMULA = re.compile(r"^( *)\.\. math::(.*(?:\n\1 +\S.*)*)", re.MULTILINE)
_INLINE = re.compile(r":math:`([^`]+)`")
_ROLE = re.compile(r":[a-z]+:`~?([^`]+)`")
_LINK = re.compile(r"`([^`<]+) <(https?://[^>]+)>`_")


def to_html(formula: str) -> str:
    r"""Write a formula as HTML with sub- and superscripts.

    Example:
        >>> to_html(r"\tilde P_{ij} = \sum_k W_{ik}")
        '<i>P̃</i><sub><i>ij</i></sub> = Σ<sub><i>k</i></sub> <i>W</i><sub><i>ik</i></sub>'
    """
    return unicodedata.normalize("NFC", _Reader(formula).sequence())


def to_markdown(docstring: str) -> str:
    """Rewrite the marks of reStructuredText in a Google-style docstring."""
    text = _FORMULA.sub(_formula_block, docstring)
    text = _INLINE.sub(_formula_in_line, text)
    text = _ROLE.sub(lambda found: f"`{found[1].rsplit('.', 1)[-1]}`", text)
    text = _LINK.sub(r"[\1](\2)", text)
    # Google style knows the section by its plural alone.
    return re.sub(r"^( *)Example:$", r"\1Examples:", text, flags=re.MULTILINE)


class Docstrings(griffe.Extension):
    """Apply `to_markdown` to all docstrings that are shown."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)


def _formula_block(found: re.Match[str]) -> str:
    lines = re.split(r"\\\\", " ".join(found[2].split()))
    shown = "<br>".join(to_html(line.strip()) for line in lines)
    return f'{found[1]}<p class="formula">{shown}</p>\n'


def _formula_in_line(found: re.Match[str]) -> str:
    return f'<span class="formula">{to_html(" ".join(found[1].split()))}</span>'


class _Reader:
    """Read LaTeX from left to right, a token at a time."""

    def __init__(self, formula: str) -> None:
        self.tokens = [found.groups() for found in _TOKEN.finditer(formula)]
        self.place = 0

    def sequence(self) -> str:
        """Read up to a closing brace, or the end."""
        shown = []
        while self.place < len(self.tokens) and self.tokens[self.place][1] != "}":
            shown.append(self.one())
        return _joined("".join(shown))

    def argument(self) -> str:
        """Read a group in braces, or the next token."""
        while self.tokens[self.place][2]:
            self.place += 1
        if self.tokens[self.place][1] != "{":
            return self.one()
        self.place += 1
        inside = self.sequence()
        self.place += 1
        return inside

    def one(self) -> str:
        """Read one token, and what belongs to it."""
        command, mark, space, other = self.tokens[self.place]
        if mark == "{":
            return self.argument()
        self.place += 1
        if command is not None:
            return self.command(command)
        if mark is not None:
            tag = "sub" if mark == "_" else "sup"
            return f"<{tag}>{self.argument()}</{tag}>"
        if space is not None:
            return " "
        if other.isalpha():
            return f"<i>{other}</i>"
        return {"-": "−", "&": "", "'": "′"}.get(other, html.escape(other))

    def command(self, name: str) -> str:
        """Read what follows a backslash."""
        if name in _SYMBOLS:
            return _SYMBOLS[name]
        if name in ("frac", "tfrac"):
            above, below = self.argument(), self.argument()
            return f'<span class="fraction"><span>{above}</span><span>{below}</span></span>'
        if name == "sqrt":
            return f"√{_bracketed(self.argument())}"
        if name in _ACCENTS:
            return re.sub(r"(?:^|(?<=>))(\w)", rf"\1{_ACCENTS[name]}", self.argument(), count=1)
        if name in _UPRIGHT:
            return re.sub(r"</?i>", "", self.argument()).replace("−", "-")
        if name in ("begin", "end"):
            self.argument()
            return "{ " if name == "begin" else ""
        return name


def _joined(shown: str) -> str:
    return shown.replace("</i><i>", "")


def _bracketed(part: str) -> str:
    plain = re.sub(r"<[^>]+>", "", part).strip()
    return f"({part.strip()})" if re.search(r"[ +−]", plain) else part.strip()
