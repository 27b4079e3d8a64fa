"""The example notebooks run from their first cell to their last. Outputs that are kept are written anew with
TAILBACK_UPDATE_GOLDEN=1 in the environment."""

import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parent.parent / "examples"


def execute(name: str) -> nbformat.NotebookNode:
    notebook = nbformat.read(EXAMPLES / name, as_version=4)
    resources = {"metadata": {"path": str(EXAMPLES)}}
    NotebookClient(notebook, timeout=300, record_timing=False, resources=resources).execute()
    return notebook


def outputs(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def ours(notebook: nbformat.NotebookNode) -> list[str]:
    """What this package prints; how frames look is up to pandas."""
    texts = [output.get("text") or output["data"]["text/plain"] for output in outputs(notebook)]
    return [text for text in texts if text.startswith(("<", "unknown"))]


def test_the_example(server, monkeypatch):
    monkeypatch.setenv("TAILBACK_SERVER", server.address)
    assert any("accepted_load" in str(output) for output in outputs(execute("first-steps.ipynb")))


def test_the_example_without_a_server():
    name = "without-a-server.ipynb"
    kept, notebook = nbformat.read(EXAMPLES / name, as_version=4), execute(name)
    if os.environ.get("TAILBACK_UPDATE_GOLDEN"):
        notebook.metadata = kept.metadata
        (EXAMPLES / name).write_text(nbformat.writes(notebook, indent=1) + "\n", encoding="utf-8")
    else:
        assert len(ours(kept)) == 3 and ours(notebook) == ours(kept)
