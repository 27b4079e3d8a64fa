"""The example notebook runs from its first cell to its last."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_the_example(server, monkeypatch):
    monkeypatch.setenv("TAILBACK_SERVER", server.address)
    notebook = nbformat.read(EXAMPLES / "first-steps.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("accepted_load" in str(output) for output in outputs)
