"""The program: where it is, and what is said by it and to it."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .errors import Interrupted, InvalidRequest, InvalidScenario, ProgramFailed, ProgramNotFound, Violation

LOG = logging.getLogger("tailback")

# The one that a wheel has brought.
BUNDLED = Path(__file__).parent / "bin" / "tailback"
# How a program says that somebody has asked it to stop.
_INTERRUPTED = (130, -signal.SIGINT)
# Bad input, before anything was done.
_BAD_INPUT = 2

Progress = Callable[[int, int], object]


def find(program: str | Path | None = None) -> Path:
    """The program that is used: the one that is given, that of the environment's TAILBACK, the one that came with this
    package, or the first on the search path."""
    named = program or os.environ.get("TAILBACK")
    if named:
        found = shutil.which(named)
        if found is None:
            raise ProgramNotFound(f"{named} is no program that can be run")
        return Path(found).absolute()
    if BUNDLED.is_file():
        return BUNDLED
    found = shutil.which("tailback")
    if found is None:
        raise ProgramNotFound(
            "there is no program `tailback`: install a wheel that brings it, put it on the search path, or name it by the "
            "environment's TAILBACK or by `program=`"
        )
    return Path(found).absolute()


def call(
    arguments: Sequence[str],
    *,
    program: str | Path | None = None,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> str:
    """Has the program do something in a folder, and gives what it printed. Ctrl-C is passed on to it, once; what it says on
    its way are warnings of the logger `tailback`."""
    told = _Told(progress)
    command = [str(find(program)), *arguments, "--format", "json", "--tell", "json"]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        # In a session of its own it hears of Ctrl-C from here only, and not from the terminal as well.
        with subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        ) as child:
            try:
                while not told.is_over(child):
                    pass
            finally:
                # Whatever went wrong here: nothing goes on behind anybody's back.
                child.kill()
        told.check(child.returncode)
        printed.seek(0)
        return printed.read()


class _Told:
    """What a program tells on its way, a line each."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._mistakes: list[Violation] = []
        self._texts: list[str] = []
        self._was_interrupted = False

    def is_over(self, child: subprocess.Popen[str]) -> bool:
        """Listens until the program has ended, or somebody asks to stop; who asks twice does not wait."""
        try:
            assert child.stderr is not None
            for line in child.stderr:
                self._hear(line.rstrip("\n"))
            child.wait()
        except KeyboardInterrupt:
            if self._was_interrupted:
                raise
            self._was_interrupted = True
            child.send_signal(signal.SIGINT)
            return False
        return True

    def _hear(self, line: str) -> None:
        try:
            said: dict[str, Any] = json.loads(line)
        except ValueError:
            said = {"text": line}
        if "position" in said:
            if self._progress is not None:
                self._progress(said["position"], said["end"])
        elif "severity" in said:
            found = _violation(said)
            if said["severity"] == "error":
                self._mistakes.append(found)
            else:
                LOG.warning("%s: %s", found.field, found.description)
        elif said.get("text"):
            self._texts.append(said["text"])

    def check(self, code: int) -> None:
        """Raises what the program ended with, unless that is what it was to do."""
        text = "\n".join(self._texts)
        if self._was_interrupted or code in _INTERRUPTED:
            raise Interrupted(self._texts[-1] if self._texts else "interrupted")
        if self._mistakes:
            count = len(self._mistakes)
            message = f"the scenario has {count} mistake{'s' if count > 1 else ''}"
            raise InvalidScenario(message, reason="INVALID_SCENARIO", violations=self._mistakes)
        if code == _BAD_INPUT:
            raise InvalidRequest(text, reason="INVALID_REQUEST")
        if code < 0:
            raise ProgramFailed(f"{text}\nthe program was ended by {signal.Signals(-code).name}".strip())
        if code != 0:
            raise ProgramFailed(text or f"the program ended with exit code {code}")


def _violation(said: dict[str, Any]) -> Violation:
    place = f" {said['source']}:{said['line']}:{said['column']}" if said.get("source") else ""
    description = "; ".join(filter(None, [said["message"], said.get("help")]))
    return Violation(f"scenario{place}", description)
