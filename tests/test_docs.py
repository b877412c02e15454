import json
import os
import re
import subprocess
import sys
from dataclasses import asdict
from html.parser import HTMLParser
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from filelock import FileLock

import bpgnn
from bpgnn.experiments.store import Store
from bpgnn.methods.registry import METHODS
from bpgnn.report.registry import SECTIONS
from bpgnn.report.source import Source
from bpgnn.report.write import as_markdown
from bpgnn.training.folder import CHECKPOINT, DATA, HISTORY, PLAN, RESULT, WEIGHTS

ROOT = Path(__file__).parent.parent
PAGES = sorted(path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))
# What a browser loads by itself, and where its address stands.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}

needs_mkdocs = pytest.mark.skipif(
    not all(find_spec(name) for name in ("mkdocs", "material", "mkdocstrings")),
    reason="mkdocs-material or mkdocstrings is missing: pip install bpgnn[docs]",
)


class Addresses(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag in LOADED and values.get("rel") not in ("canonical", "prev", "next"):
            self.found.append(values.get(LOADED[tag]) or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site, and what was said while it was built; all processes share one."""
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent
    folder, said = place / "site", place / "site.txt"
    with FileLock(place / "site.lock"):
        if not said.exists():
            said.write_text(built_into(folder), encoding="utf-8")
    return folder, said.read_text(encoding="utf-8")


def built_into(folder):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def script(name):
    spec = spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def docstrings():
    pytest.importorskip("griffe", reason="griffe is missing: pip install bpgnn[docs]")
    return script("docs_docstrings")


def test_the_tables_of_measured_figures_are_those_of_the_store():
    tables = script("fill_tables")
    lines = tables.Store(ROOT / "results" / "runs.jsonl").read()
    found = [name for page in tables.PAGES for name in placed(page)]
    assert set(found) == set(tables.TABLES)
    for page in tables.PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        assert tables.filled(text, lines) == text, "Run python scripts/fill_tables.py."


def test_the_report_that_is_kept_is_that_of_the_store():
    source = Source(Store(ROOT / "results" / "runs.jsonl").read())
    sections = [make(source) for make in SECTIONS.values()]
    kept = (ROOT / "results" / "report" / "report.md").read_text(encoding="utf-8")
    foot = source.provenance("runs.jsonl")
    assert as_markdown(sections, foot, fast=False) == kept, "Run bpgnn report --out results/report."
    drawn = {figure.name for section in sections for figure in section.figures}
    assert {path.stem for path in (ROOT / "results" / "report").glob("*.png")} == drawn


def placed(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"<!-- table: ([\w ]+) -->", text)


def test_a_figure_in_a_table_counts_only_runs_with_the_settings_of_today():
    tables = script("fill_tables")
    runs = tables.over_seeds("cora", range(3), method="gcn")
    lines = {
        run.command: {
            "command": run.command,
            "test_accuracy": share,
            "settings": json.loads(json.dumps(asdict(run.plan.settings_for("cora")))),
        }
        for run, share in zip(runs, (0.8, 0.9, 0.1), strict=True)
    }
    lines[runs[2].command]["settings"]["weight_decay"] = 0.5
    assert tables.figure(runs, lines) == "85.0 ± 7.1 (2)"
    assert tables.figure(runs[:1], lines) == "80.0 (1)"
    assert tables.figure(runs, {}) == "–"


@needs_mkdocs
def test_the_site_builds_without_a_warning(site):
    _, said = site
    assert not re.search(r"warning|error|not found|not included", said, flags=re.IGNORECASE), said


@needs_mkdocs
@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_page_is_built_and_in_the_menu(site, page):
    folder, _ = site
    built = page.with_suffix(".html").as_posix()
    assert (folder / built).is_file()
    menu = (folder / "index.html").read_text(encoding="utf-8")
    assert re.search(rf'<a href="(\./)?{re.escape(built)}" class="md-nav__link', menu)


@needs_mkdocs
def test_no_page_loads_anything_from_elsewhere(site):
    folder, _ = site
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        outside = [at for at in Addresses(text).found if re.match(r"(https?:)?//", at)]
        assert not outside, f"{page.name} loads {outside}."
        assert "fonts.g" not in text
    for sheet in folder.rglob("*.css"):
        outside = re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)\"']*", sheet.read_text())
        assert not outside, f"{sheet.name} loads {outside}."


@needs_mkdocs
def test_every_public_name_has_its_place_in_the_reference(site):
    folder, _ = site
    pages = [path.read_text(encoding="utf-8") for path in (folder / "reference").glob("*.html")]
    shown = set(re.findall(r'id="(bpgnn[\w.]*)"', "".join(pages)))
    methods = {method.__name__: method.__module__ for method in METHODS.values()}
    missing = [
        name
        for name, home in [*bpgnn._HOME.items(), *methods.items()]
        if name != "METHODS" and not {f"bpgnn.{name}", f"{home}.{name}"} & shown
    ]
    assert not missing, f"Not in docs/reference/: {missing}."


@needs_mkdocs
def test_no_mark_of_restructured_text_is_left_in_the_reference(site):
    folder, _ = site
    for page in (folder / "reference").glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(
            r"\.\. math|:(class|func|meth|mod|data): *<code>|&gt;`_|<blockquote>", text
        ), page


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (r"x_{ij}^2", "<i>x</i><sub><i>ij</i></sub><sup>2</sup>"),
        (r"\text{Gumbel-top-}k", "Gumbel-top-<i>k</i>"),
        (r"\hat A \diamond \tilde{P}", "<i>Â</i> ⋄ <i>P̃</i>"),
        (r"\sqrt{a + b} < 1", "√(<i>a</i> + <i>b</i>) &lt; 1"),
    ],
)
def test_a_formula_becomes_html(docstrings, formula, shown):
    assert docstrings.to_html(formula) == shown


def test_every_command_in_a_formula_of_the_source_is_known(docstrings):
    functions = {"exp", "log", "cos", "tanh", "min", "max", "arg", "arccos", "arcsin"}
    known = functions | {"frac", "tfrac", "sqrt", "begin", "end"}
    known |= {*docstrings._SYMBOLS, *docstrings._ACCENTS, *docstrings._UPRIGHT}
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        formulas = [found[2] for found in docstrings._FORMULA.finditer(text)]
        formulas += docstrings._INLINE.findall(text)
        unknown = set(re.findall(r"\\([A-Za-z]+)", " ".join(formulas))) - known
        assert not unknown, f"{path.name}: {unknown}"


def test_a_docstring_keeps_its_sections(docstrings):
    text = """Do :math:`x_i`, see :func:`~bpgnn.graph.check`.

.. math::
    a &= b \\\\
    c &= d

Example:
    >>> 1
"""
    assert docstrings.to_markdown(text) == (
        'Do <span class="formula"><i>x</i><sub><i>i</i></sub></span>, see `check`.\n\n'
        '<p class="formula"><i>a</i> = <i>b</i><br><i>c</i> = <i>d</i></p>\n\n'
        "\nExamples:\n    >>> 1\n"
    )


@pytest.mark.parametrize("name", [PLAN, DATA, HISTORY, CHECKPOINT, WEIGHTS, RESULT])
def test_every_file_of_a_run_is_told_of(name):
    assert f"| `{name}` |" in (ROOT / "docs" / "runs.md").read_text(encoding="utf-8")


def test_the_other_methods_are_counted_alike_everywhere():
    words = {12: "twelve", 13: "thirteen", 14: "fourteen", 15: "fifteen"}
    pages = [ROOT / "README.md", *(ROOT / "docs" / page for page in PAGES)]
    text = " ".join(page.read_text(encoding="utf-8") for page in pages)
    found = re.findall(r"\b(twelve|\w+teen) other(?:s| methods)\b", text)
    assert len(found) >= 4
    assert set(found) == {words[len(METHODS) - 1]}
