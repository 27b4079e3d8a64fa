"""A wheel with the program in it, in an environment with nothing else: neither pandas nor a program."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "wheel"

WITHOUT_A_SERVER = """
import sys
import tailback
from tailback import program

assert tailback.__file__.startswith(sys.prefix), tailback.__file__
assert program.find() == program.BUNDLED
scenario = {
    "routing": "minimal",
    "topology": {"dragonfly": {"p": 2, "a": 4, "h": 2, "g": 9}},
    "traffic": [{"load": 0.3}],
    "measure": {"warmup": 100, "cycles": 400},
}
print(tailback.run(scenario, threads=1).report["nodes"])
found = tailback.sweep(scenario, {"traffic.load": [0.1, 0.2]}, run_saturated=True)
print([row["traffic.load"] for row in found.rows])
"""


def test_an_installed_wheel_needs_no_server_and_no_program(tmp_path):
    program = shutil.which(os.environ.get("TAILBACK", "tailback"))
    outside = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run([SCRIPT, program, tmp_path / "wheels"], check=True, env=outside)
    (wheel,) = (tmp_path / "wheels").iterdir()
    kind, _, machines = wheel.stem.split("-")[-3:]
    assert kind == "py3" and machines != "any", wheel.name
    # Without pip, which takes longer than all else.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", wheel]
    subprocess.run(install, check=True)
    clean = {"PATH": "/nowhere", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    command = [python, "-I", "-c", WITHOUT_A_SERVER]
    said = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True)
    assert (said.stdout, said.returncode) == ("72\n[0.1, 0.2]\n", 0), said.stderr
