import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bpgnn

ROOT = Path(__file__).parent.parent


def in_new_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("name", bpgnn.__all__)
def test_every_public_name_loads(name):
    assert getattr(bpgnn, name) is not None
    assert name in dir(bpgnn)


def test_the_reference_page_names_exactly_the_public_names():
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)`", page, flags=re.MULTILINE) == list(bpgnn.__all__)


def test_type_checkers_see_the_same_names_from_the_same_modules():
    tree = ast.parse(Path(bpgnn.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.asname: line.module for line in block.body for alias in line.names}
    assert seen == bpgnn._HOME


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'bpgnn' has no attribute 'no_such_name'"):
        _ = bpgnn.no_such_name


def test_importing_the_package_loads_no_heavy_library():
    loaded = in_new_python("import sys, bpgnn; print(*sys.modules)").split()
    assert not {"torch", "numpy", "scipy", "sklearn", "numba", "rich", "typer"} & set(loaded)


def test_importing_the_package_takes_under_three_tenths_of_a_second():
    code = (
        "import time; start = time.perf_counter(); import bpgnn; print(time.perf_counter() - start)"
    )
    # The best of three, because a busy machine may pause any one of them.
    assert min(float(in_new_python(code)) for _ in range(3)) < 0.3


def test_the_citation_file_and_the_changelog_name_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {bpgnn.__version__}\n" in citation
    assert bpgnn.__version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
