"""Client of a tailback server.

    import tailback

    client = tailback.Client("127.0.0.1:7878")
    frame = client.run("configs/quickstart.toml", {"measure.series": 100}).wait().to_pandas()

`tailback.aio.Client` is the same for asyncio.
"""

from . import aio
from .client import Client, Run
from .errors import (
    AlreadyExists,
    DataLoss,
    InUse,
    InvalidRequest,
    InvalidScenario,
    LimitExceeded,
    NoResults,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    NotKnown,
    QueueFull,
    RunFailed,
    SequenceGone,
    TailbackError,
    Unavailable,
    Violation,
)

__all__ = [
    "AlreadyExists",
    "DataLoss",
    "Client",
    "InUse",
    "InvalidRequest",
    "InvalidScenario",
    "LimitExceeded",
    "NoResults",
    "NotAllowed",
    "NotAuthenticated",
    "NotFound",
    "NotKnown",
    "QueueFull",
    "Run",
    "RunFailed",
    "SequenceGone",
    "TailbackError",
    "Unavailable",
    "Violation",
    "aio",
]
