"""What both clients have in common: requests, channels, tables."""

from __future__ import annotations

import hashlib
import logging
import os
import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailback_api.tailback.v1 import file_service_pb2, result_service_pb2, run_pb2, run_service_pb2, system_service_pb2

from . import documents
from .errors import ROUTINE, NotKnown, TailbackError, is_passing

if TYPE_CHECKING:
    import pandas

LOG = logging.getLogger("tailback")

ENDED = (run_pb2.RUN_STATE_SUCCEEDED, run_pb2.RUN_STATE_FAILED, run_pb2.RUN_STATE_CANCELLED)
# The longest pause before a server that is away is tried again, in seconds.
PAUSE_MAX = 5.0
CHANNEL_OPTIONS = [
    # A connection that nobody uses is asked now and then whether it is still there.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.max_receive_message_length", 64 << 20),
    # Else gRPC tries only every two minutes, after a while.
    ("grpc.max_reconnect_backoff_ms", int(PAUSE_MAX * 1000)),
]
# Bytes of a file that are sent at once.
PIECE_BYTES = 256 << 10
# How long a server may be away, in seconds.
RETRY_TIME = 300.0


class Retry:
    """What is done about a call that fails: refusals are raised; of a lost connection it is said once, as a warning of
    the logger `tailback`, that the call is made again, after longer and longer pauses, until `seconds` are over."""

    def __init__(self, seconds: float, *, now: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._now = seconds, now
        self._lost_since: float | None = None
        self._attempts, self._told = 0, False
        # Whether a call was made again, so that the answer may be about what the first one did.
        self.has_repeated = False

    def answered(self) -> None:
        """The server is there: what is lost from now on is lost anew."""
        self._lost_since, self._attempts, self._told = None, 0, False

    def pause(self, error: TailbackError) -> float:
        """Seconds to wait before the call is made again; raises the error if it is not to be."""
        if not is_passing(error):
            raise error
        if self._lost_since is None:
            self._lost_since = self._now()
        left = self._lost_since + self._seconds - self._now()
        if left <= 0:
            raise error
        if not self._told and error.reason not in ROUTINE:
            self._told = True
            LOG.warning("the connection is lost (%s); trying again for up to %g s", error, self._seconds)
        full = min(0.1 * 2 ** min(self._attempts, 16), PAUSE_MAX)
        self._attempts, self.has_repeated = self._attempts + 1, True
        # Scattered, or all clients of a server would come back at the same moments.
        return min(full * random.uniform(0.5, 1.0), left)


def is_path(source: str | Path) -> bool:
    """Whether a scenario is a file: whatever has several lines is a text."""
    return isinstance(source, Path) or "\n" not in source


def named_files(source: str | Path, files: Mapping[str, str | Path]) -> dict[str, str | Path]:
    """The files that a scenario needs, by its names for them: those that were given, each a path or the SHA-256 of one that
    was uploaded, and those that the programs of a scenario file name and that lie beside it."""
    found: dict[str, str | Path] = {}
    if is_path(source):
        for name in _names(Path(source).read_text(encoding="utf-8")):
            beside = Path(source).parent / name
            if name not in files and beside.is_file():
                found[name] = beside
    return {**found, **files}


def _names(document: str) -> Iterator[str]:
    """The files that the programs of a document name, as far as it can be read: the server says what is wrong with it."""
    try:
        import tomllib
    except ImportError:  # before Python 3.11
        try:
            import tomli as tomllib
        except ImportError:
            if "program" in document:
                LOG.warning("install tomli to have the files that a scenario names uploaded, or name them with `files`")
            return
    try:
        programs = tomllib.loads(document).get("program", [])
    except tomllib.TOMLDecodeError:
        return
    for program in programs if isinstance(programs, list) else [programs]:
        for key in ("goal", "messages", "map") if isinstance(program, dict) else ():
            said = program.get(key)
            if isinstance(said, dict):
                said = said.get("file")
            elif key == "map":
                continue
            if isinstance(said, str):
                yield said


def is_digest(file: str | Path) -> bool:
    """Whether what was given for a file is the SHA-256 of one that was uploaded."""
    return isinstance(file, str) and len(file) == 64 and all(digit in "0123456789abcdef" for digit in file)


def header(path: Path, name: str) -> file_service_pb2.UploadHeader:
    """What a server is told of a file before it comes."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            digest.update(piece)
            size += len(piece)
    return file_service_pb2.UploadHeader(name=name, size=size, sha256=digest.hexdigest())


def parts(path: Path, header: file_service_pb2.UploadHeader) -> Iterator[file_service_pb2.UploadFileRequest]:
    """All that is sent of a file."""
    yield file_service_pb2.UploadFileRequest(header=header)
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield file_service_pb2.UploadFileRequest(content=piece)


def scenario(source: str | Path, overrides: Mapping[str, Any] | Sequence[str] = ()) -> run_pb2.Scenario:
    """A scenario from a file, or from its text: whatever has several lines is a text."""
    if is_path(source):
        name, document = str(source), Path(source).read_text(encoding="utf-8")
    else:
        name, document = "scenario", source
    return run_pb2.Scenario(name=name, document=document, overrides=documents.overrides(overrides, {}))


def create(
    source: str | Path,
    overrides: Mapping[str, Any] | Sequence[str],
    *,
    over: Iterable[str] | None,
    seeds: int,
    run_saturated: bool,
    threads: int | None,
    labels: Mapping[str, str],
    run_id: str,
    priority: int,
    reuse: bool,
    private: bool,
    project: str,
) -> run_service_pb2.CreateRunRequest:
    """A request for a run. Its id makes asking again after a lost answer harmless."""
    request = run_service_pb2.CreateRunRequest(
        request_id=str(uuid.uuid4()),
        run_id=run_id,
        scenario=scenario(source, overrides),
        labels=dict(labels),
        reuse=reuse,
        private=private,
        project=project,
    )
    request.execution.priority = priority
    if threads is not None:
        request.execution.threads = threads
    if over is not None or seeds:
        request.sweep.CopyFrom(run_pb2.Sweep(over=over or [], seeds=seeds, run_saturated=run_saturated))
    return request


def must_know(server: system_service_pb2.GetServerInfoResponse, feature: str) -> None:
    """Refuses to ask for what an earlier server would leave out without a word: it would show a private run to everybody."""
    if feature not in server.features:
        raise NotKnown(f"this server (version {server.version}) does not know `{feature}`: nothing was asked of it")


def retry(run_id: str) -> run_service_pb2.RetryRunRequest:
    """A request to simulate a run again, whose id makes asking again after a lost answer harmless."""
    return run_service_pb2.RetryRunRequest(run_id=run_id, request_id=str(uuid.uuid4()))


def metadata(token: str | None) -> list[tuple[str, str]]:
    """What goes with each call."""
    token = token or os.environ.get("TAILBACK_TOKEN")
    return [("authorization", f"Bearer {token}")] if token else []


def frame(series: result_service_pb2.QuerySeriesResponse) -> pandas.DataFrame:
    """A table as pandas has it: what is empty is missing."""
    import pandas

    kinds = {"integers": "Int64", "numbers": "Float64", "texts": "string"}
    columns = {}
    for column in series.columns:
        kind = column.WhichOneof("values")
        values = list(getattr(column, kind).values) if kind else [None] * series.rows
        for row in column.empty:
            values[row] = None
        columns[column.name] = pandas.array(values, dtype=kinds[kind] if kind else "string")
    return pandas.DataFrame(columns)


def samples(events: Iterable[run_service_pb2.WatchRunResponse]) -> pandas.DataFrame:
    """The samples among events, a row each: what a sample does not tell is missing."""
    import pandas

    fields = run_pb2.MetricSample.DESCRIPTOR.fields
    columns: dict[str, list[Any]] = {field.name: [] for field in fields}
    for event in events:
        if event.WhichOneof("event") == "sample":
            for field in fields:
                told = not field.has_presence or event.sample.HasField(field.name)
                columns[field.name].append(getattr(event.sample, field.name) if told else None)
    kinds = {field.name: "Float64" if field.type == field.TYPE_DOUBLE else "Int64" for field in fields}
    return pandas.DataFrame({name: pandas.array(values, dtype=kinds[name]) for name, values in columns.items()})


def report_row(report: dict[str, Any]) -> pandas.DataFrame:
    """A report as a single row, with dots for what is inside."""
    import pandas

    return pandas.json_normalize(report)


def checked(content: bytes, artifact: result_service_pb2.Artifact) -> bytes:
    """Content that has arrived whole."""
    if hashlib.sha256(content).hexdigest() != artifact.sha256:
        raise OSError(f"{artifact.name} arrived damaged")
    return content


class Bar:
    """A bar of tqdm's for those who have it and want it, in notebooks too."""

    def __init__(self, wanted: bool, run_id: str) -> None:
        self._bar: Any = None
        if wanted:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(desc=run_id, unit=" cycles", leave=True)

    def show(self, event: run_service_pb2.WatchRunResponse) -> None:
        if self._bar is None:
            return
        kind = event.WhichOneof("event")
        if kind == "sample":
            self._to(event.sample.cycle, event.sample.cycles)
            self._bar.set_postfix(accepted=f"{event.sample.accepted_load:.3f}", refresh=False)
        elif kind == "child_ended":
            self._bar.unit = " runs"
            self._to(event.child_ended.progress.children_ended, event.child_ended.progress.children)
        elif kind == "state_changed" and event.state_changed.state == run_pb2.RUN_STATE_SUCCEEDED:
            progress = event.state_changed.progress
            self._to(progress.children or progress.cycles, progress.children or progress.cycles)

    def _to(self, position: int, total: int) -> None:
        self._bar.total = total
        self._bar.update(position - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
