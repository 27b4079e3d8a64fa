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
    found = [output for output in outputs(notebook) if output.get("name") != "stderr"]
    texts = [output.get("text") or output["data"].get("text/plain", "") for output in found]
    return [text for text in texts if text.startswith(("<", "unknown", "scenario "))]


def compare(name: str, printed: int) -> None:
    """Executes a notebook, all of whose code has outputs that are kept: what this package prints is as it was."""
    kept, notebook = nbformat.read(EXAMPLES / name, as_version=4), execute(name)
    if os.environ.get("TAILBACK_UPDATE_GOLDEN"):
        notebook.metadata = kept.metadata
        # Bars of progress are not the same each time.
        for cell in notebook.cells:
            cell.outputs = [output for output in cell.get("outputs", []) if output.get("name") != "stderr"]
            if cell.cell_type != "code":
                del cell["outputs"]
        (EXAMPLES / name).write_text(nbformat.writes(notebook, indent=1) + "\n", encoding="utf-8")
        return
    assert all(cell.outputs for cell in kept.cells if cell.cell_type == "code")
    assert len(ours(kept)) == printed and ours(notebook) == ours(kept)


def test_the_example(server, monkeypatch):
    monkeypatch.setenv("TAILBACK_SERVER", server.address)
    compare("first-steps.ipynb", printed=1)


def test_the_example_without_a_server():
    compare("without-a-server.ipynb", printed=3)
