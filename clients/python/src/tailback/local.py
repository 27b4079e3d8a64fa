"""Runs, sweeps and checks on this machine: no server is needed."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import documents, requests
from .errors import Interrupted, InvalidRequest
from .program import Progress, call
from .results import RunResults, SweepResults

# A scenario: a file, a text, or the tables of one.
Scenario = str | Path | Mapping[str, Any]


def run(
    scenario: Scenario,
    overrides: Mapping[str, Any] | Sequence[str] = (),
    *,
    threads: int | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    files: Mapping[str, str | Path] | None = None,
    progress: bool | Progress = False,
    program: str | Path | None = None,
    **values: Any,
) -> RunResults:
    """Simulates a scenario: a file, a text, or a dictionary. `overrides` and `values` are laid over it, as
    `{"traffic.load": 0.3}` or `traffic__load=0.3`. Results go into a temporary folder, or `out`. What programs of a text
    name is found by `files`. `progress` is a bar, or is called with the cycle and the last one."""
    folder = _folder(out)
    options = _options(documents.overrides(overrides, values), threads=threads, seed=seed, out=folder)
    try:
        with _written(scenario, files) as (name, place), _listener(progress) as listener:
            printed = call(["run", name, *options], program=program, folder=place, progress=listener)
    except BaseException as error:
        if isinstance(error, Interrupted):
            error.report = _read(folder / "interrupted.json")
        _discard(folder, out)
        raise
    return RunResults(folder, json.loads(printed), is_temporary=out is None)


def sweep(
    scenario: Scenario,
    over: Mapping[str, Any] | Sequence[str] = (),
    overrides: Mapping[str, Any] | Sequence[str] = (),
    *,
    seeds: int | None = None,
    run_saturated: bool = False,
    jobs: int | None = None,
    out: str | Path | None = None,
    files: Mapping[str, str | Path] | None = None,
    progress: bool | Progress = False,
    program: str | Path | None = None,
    **values: Any,
) -> SweepResults:
    """Simulates a scenario many times: `over` is `{"traffic.load": [0.1, 0.2]}`, or texts as `traffic.load=0.1..0.9/0.1`, or
    nothing if the scenario has a `[sweep]`. `jobs` runs are simulated at the same time. With `out`, runs that are there are not
    made again. `progress` is a bar, or is called with two numbers: how much is done, and how much there is. All else is as
    in `run`."""
    folder = _folder(out)
    varied = [part for axis in documents.axes(over) for part in ("--over", axis)]
    more = ["--no-stop"] if run_saturated else []
    options = _options(documents.overrides(overrides, values), seeds=seeds, jobs=jobs, out=folder)
    try:
        with _written(scenario, files) as (name, place), _listener(progress) as listener:
            printed = call(
                ["sweep", name, *varied, *more, *options], program=program, folder=place, progress=listener
            )
    except BaseException:
        _discard(folder, out)
        raise
    return SweepResults(folder, json.loads(printed), is_temporary=out is None)


def check(
    scenario: Scenario,
    overrides: Mapping[str, Any] | Sequence[str] = (),
    *,
    files: Mapping[str, str | Path] | None = None,
    program: str | Path | None = None,
    **values: Any,
) -> dict[str, Any]:
    """What running a scenario would take, and the scenario with all its defaults (`resolved`); or raises InvalidScenario
    with all its mistakes. Arguments are as in `run`."""
    options = _options(documents.overrides(overrides, values))
    with _written(scenario, files) as (name, place):
        return json.loads(call(["check", name, *options], program=program, folder=place))


def _options(overrides: Sequence[str], **options: Any) -> list[str]:
    given = [part for override in overrides for part in ("--set", override)]
    named = [part for name, value in options.items() if value is not None for part in (f"--{name}", str(value))]
    return [*given, *named]


def _folder(out: str | Path | None) -> Path:
    return Path(tempfile.mkdtemp(prefix="tailback-")) if out is None else Path(out).absolute()


def _discard(folder: Path, out: str | Path | None) -> None:
    if out is None:
        shutil.rmtree(folder, ignore_errors=True)


def _read(path: Path) -> dict[str, Any] | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


@contextmanager
def _written(scenario: Scenario, files: Mapping[str, str | Path] | None) -> Iterator[tuple[str, Path | None]]:
    """A scenario as a file by its name, and the folder in which the name means it. Where there are files, they are beside a
    copy of it by the names that it has for them."""
    if not isinstance(scenario, Mapping) and requests.is_path(scenario) and not files:
        yield str(scenario), None
        return
    is_file = not isinstance(scenario, Mapping) and requests.is_path(scenario)
    if isinstance(scenario, Mapping):
        text, named = documents.document(scenario), dict(files or {})
    else:
        text = Path(scenario).read_text(encoding="utf-8") if is_file else str(scenario)
        named = requests.named_files(scenario, files or {})
    with tempfile.TemporaryDirectory(prefix="tailback-") as folder:
        # So deep that no name leads out of the temporary folder, however often it goes up.
        beside = Path(folder).joinpath(*["_"] * max((Path(file).parts.count("..") for file in named), default=0))
        beside.mkdir(parents=True, exist_ok=True)
        name = Path(scenario).name if is_file else "scenario.toml"
        (beside / name).write_text(text, encoding="utf-8")
        for file, path in named.items():
            _link(beside / file, Path(path).absolute(), file)
        yield name, beside


def _link(place: Path, path: Path, name: str) -> None:
    """Has a scenario find a file where its name for it leads to."""
    # An absolute name leads where it leads, and two names may lead to one place.
    if Path(name).is_absolute() or os.path.lexists(place):
        leads = place.resolve()
        if leads != path.resolve():
            raise InvalidRequest(f"files: `{name}` cannot stand for {path}: it leads to {leads}", reason="INVALID_REQUEST")
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(path)


@contextmanager
def _listener(progress: bool | Progress) -> Iterator[Progress | None]:
    """What is called with how far it has come: for a bar of tqdm's, if there is one."""
    if callable(progress) or not progress:
        yield progress or None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(desc="tailback", total=1.0, bar_format="{l_bar}{bar}| [{elapsed}<{remaining}]") as bar:
        # In a sweep runs have weights, which say nothing to people.
        yield lambda position, end: bar.update(position / max(end, 1) - bar.n)
        bar.update(1.0 - bar.n)
