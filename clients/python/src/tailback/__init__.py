"""Runs tailback on this machine, or is the client of a server.

    import tailback

    run = tailback.run("configs/quickstart.toml", traffic__load=0.3)
    run.report["latency"]["message"]["mean"], run.histograms

    client = tailback.Client("127.0.0.1:7878")
    frame = client.run("configs/quickstart.toml", {"measure.series": 100}).wait().to_pandas()

`tailback.aio.Client` is the same for asyncio.
"""

from . import aio
from .client import Client, Run
from .errors import (
    AlreadyExists,
    DataLoss,
    DeadlinePassed,
    InUse,
    InternalError,
    Interrupted,
    InvalidRequest,
    InvalidScenario,
    LimitExceeded,
    NoResults,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    NotKnown,
    NothingToRetry,
    OffsetOutOfRange,
    ProgramFailed,
    ProgramNotFound,
    QueueFull,
    RunFailed,
    SequenceGone,
    TailbackError,
    Unavailable,
    Violation,
)
from .local import check, run, sweep
from .results import RunResults, SweepResults

__all__ = [
    "AlreadyExists",
    "Client",
    "DataLoss",
    "DeadlinePassed",
    "InUse",
    "InternalError",
    "Interrupted",
    "InvalidRequest",
    "InvalidScenario",
    "LimitExceeded",
    "NoResults",
    "NotAllowed",
    "NotAuthenticated",
    "NotFound",
    "NotKnown",
    "NothingToRetry",
    "OffsetOutOfRange",
    "ProgramFailed",
    "ProgramNotFound",
    "QueueFull",
    "Run",
    "RunFailed",
    "RunResults",
    "SequenceGone",
    "SweepResults",
    "TailbackError",
    "Unavailable",
    "Violation",
    "aio",
    "check",
    "run",
    "sweep",
]
