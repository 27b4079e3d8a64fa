"""What a server or the program refuses, as exceptions by reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2

from tailback_api.tailback.v1 import run_pb2


@dataclass(frozen=True)
class Violation:
    """A mistake: where it is, and what is wrong."""

    field: str
    description: str


class TailbackError(Exception):
    """Any error that a server or the program told."""

    def __init__(
        self,
        message: str,
        *,
        reason: str = "",
        metadata: dict[str, str] | None = None,
        violations: list[Violation] | None = None,
        code: grpc.StatusCode | None = None,
    ) -> None:
        lines = [message, *(f"  {violation.field}: {violation.description}" for violation in violations or [])]
        super().__init__("\n".join(lines))
        self.reason = reason
        self.metadata = metadata or {}
        self.violations = violations or []
        self.code = code


class InvalidScenario(TailbackError):
    """The scenario has mistakes: `violations` are all of them."""


class InvalidRequest(TailbackError):
    """A value that cannot be."""


class NotFound(TailbackError):
    """There is no such run, artifact, model or file."""


class AlreadyExists(TailbackError):
    """The name, or the request id, is taken."""


class InUse(TailbackError):
    """A run that has not ended needs the file: `metadata` says which."""


class NoResults(TailbackError):
    """The run has not ended, has failed, or has no such results."""


class LimitExceeded(TailbackError):
    """It asks for more than the server allows: `metadata` has the numbers."""


class QueueFull(LimitExceeded):
    """Too many runs wait: try again later."""


class NothingToRetry(TailbackError):
    """The run has succeeded."""


class SequenceGone(TailbackError):
    """Events after that number are not kept any more."""


class OffsetOutOfRange(TailbackError):
    """The file ends before that: `metadata` has its size."""


class DeadlinePassed(TailbackError):
    """The time for the call was over."""


class Unavailable(TailbackError):
    """The server is not there, or stops."""


class DataLoss(TailbackError):
    """What the server has kept is damaged, and is not given: `metadata` says what of which run."""


class InternalError(TailbackError):
    """A mistake in the server, to be reported."""


class NotAuthenticated(TailbackError):
    """The server asks for a token."""


class NotAllowed(TailbackError):
    """The token does not allow it."""


class NotKnown(TailbackError):
    """The server is older than what is asked for: nothing was asked of it."""


class RunFailed(TailbackError):
    """A run ended without results."""

    run: run_pb2.Run | None

    def __init__(self, run: run_pb2.Run) -> None:
        reason = run_pb2.RunErrorReason.Name(run.error.reason).removeprefix("RUN_ERROR_REASON_")
        if run.state == run_pb2.RUN_STATE_CANCELLED:
            message, reason = f"{run.id} was cancelled", "CANCELLED"
        else:
            message = "\n".join([f"{run.id} failed: {run.error.message}", *run.error.details])
        super().__init__(message, reason=reason)
        self.run = run


class ProgramFailed(RunFailed):
    """A run on this machine ended without results."""

    def __init__(self, message: str) -> None:
        TailbackError.__init__(self, message, reason="FAILED")
        self.run = None


class ProgramNotFound(TailbackError):
    """There is no program to run on this machine."""


class Interrupted(KeyboardInterrupt):
    """Somebody pressed Ctrl-C. `report` is that of the cycles until then, if a run had measured some."""

    report: dict[str, Any] | None = None


_BY_REASON: dict[str, type[TailbackError]] = {
    "INVALID_SCENARIO": InvalidScenario,
    "INVALID_REQUEST": InvalidRequest,
    "RUN_NOT_FOUND": NotFound,
    "ARTIFACT_NOT_FOUND": NotFound,
    "FILE_NOT_FOUND": NotFound,
    "FILE_IN_USE": InUse,
    "MODEL_NOT_FOUND": NotFound,
    "RUN_EXISTS": AlreadyExists,
    "REQUEST_ID_REUSED": AlreadyExists,
    "RUN_NOT_ENDED": NoResults,
    "NO_RESULTS": NoResults,
    "NO_SERIES": NoResults,
    "PART_OF_SWEEP": InvalidRequest,
    "NOTHING_TO_RETRY": NothingToRetry,
    "QUEUE_FULL": QueueFull,
    "LIMIT_EXCEEDED": LimitExceeded,
    "TOO_MANY_STREAMS": LimitExceeded,
    "STORAGE_FULL": LimitExceeded,
    "SEQUENCE_GONE": SequenceGone,
    "OFFSET_OUT_OF_RANGE": OffsetOutOfRange,
    "NOT_AUTHENTICATED": NotAuthenticated,
    "NOT_ALLOWED": NotAllowed,
    "SHUTTING_DOWN": Unavailable,
    "STREAM_EXPIRED": Unavailable,
    "WATCH_TOO_SLOW": Unavailable,
    "READ_TOO_SLOW": Unavailable,
    "DEADLINE_PASSED": DeadlinePassed,
    "DATA_LOSS": DataLoss,
    "INTERNAL": InternalError,
}


def from_rpc(error: Any) -> TailbackError:
    """The exception for what gRPC raised."""
    code = error.code()
    reason, metadata, violations = "", {}, []
    details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
    if details:
        status = status_pb2.Status.FromString(details)
        for detail in status.details:
            info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
            if detail.Unpack(info):
                reason, metadata = info.reason, dict(info.metadata)
            elif detail.Unpack(bad):
                violations = [Violation(found.field, found.description) for found in bad.field_violations]
    fallback = Unavailable if code == grpc.StatusCode.UNAVAILABLE else TailbackError
    kind = _BY_REASON.get(reason, fallback)
    return kind(error.details() or str(code), reason=reason, metadata=metadata, violations=violations, code=code)


def is_passing(error: TailbackError) -> bool:
    """Whether the same may go well a little later: the server says so, or nobody has answered at all."""
    # A stream that broke off may be `UNKNOWN` to gRPC; what a server says has a reason.
    is_broken = error.code == grpc.StatusCode.UNKNOWN and not error.reason
    is_away = error.code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.ABORTED)
    return isinstance(error, Unavailable) or is_away or is_broken


# How streams end without anything being wrong with the server.
ROUTINE = ("STREAM_EXPIRED", "WATCH_TOO_SLOW", "READ_TOO_SLOW")
