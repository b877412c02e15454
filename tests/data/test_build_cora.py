import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.network
def test_the_script_gives_the_cora_of_the_package_byte_for_byte(tmp_path: Path):
    script = ROOT / "scripts" / "build_cora.py"
    subprocess.run([sys.executable, str(script), str(tmp_path / "cora.npz")], check=True)
    built = (tmp_path / "cora.npz").read_bytes()
    assert built == (ROOT / "src" / "bpgnn" / "data" / "cora.npz").read_bytes()
