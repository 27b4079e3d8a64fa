import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from tailback_api.tailback.v1 import run_pb2 as _run_pb2
from tailback_api.tailback.v1 import scenario_service_pb2 as _scenario_service_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateRunRequest(_message.Message):
    __slots__ = ("request_id", "run_id", "validate_only", "scenario", "execution", "sweep", "labels", "reuse", "private", "project")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    SCENARIO_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_FIELD_NUMBER: _ClassVar[int]
    SWEEP_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    REUSE_FIELD_NUMBER: _ClassVar[int]
    PRIVATE_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    run_id: str
    validate_only: bool
    scenario: _run_pb2.Scenario
    execution: _run_pb2.Execution
    sweep: _run_pb2.Sweep
    labels: _containers.ScalarMap[str, str]
    reuse: bool
    private: bool
    project: str
    def __init__(self, request_id: _Optional[str] = ..., run_id: _Optional[str] = ..., validate_only: _Optional[bool] = ..., scenario: _Optional[_Union[_run_pb2.Scenario, _Mapping]] = ..., execution: _Optional[_Union[_run_pb2.Execution, _Mapping]] = ..., sweep: _Optional[_Union[_run_pb2.Sweep, _Mapping]] = ..., labels: _Optional[_Mapping[str, str]] = ..., reuse: _Optional[bool] = ..., private: _Optional[bool] = ..., project: _Optional[str] = ...) -> None: ...

class CreateRunResponse(_message.Message):
    __slots__ = ("run", "notes")
    RUN_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    notes: _containers.RepeatedCompositeFieldContainer[_scenario_service_pb2.Diagnostic]
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., notes: _Optional[_Iterable[_Union[_scenario_service_pb2.Diagnostic, _Mapping]]] = ...) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class GetRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ...) -> None: ...

class ListRunsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "states", "labels", "scenario_digest", "result_digest", "owner", "parent_id", "include_scenario", "project")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    SCENARIO_DIGEST_FIELD_NUMBER: _ClassVar[int]
    RESULT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_SCENARIO_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    states: _containers.RepeatedScalarFieldContainer[_run_pb2.RunState]
    labels: _containers.ScalarMap[str, str]
    scenario_digest: str
    result_digest: str
    owner: str
    parent_id: str
    include_scenario: bool
    project: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., states: _Optional[_Iterable[_Union[_run_pb2.RunState, str]]] = ..., labels: _Optional[_Mapping[str, str]] = ..., scenario_digest: _Optional[str] = ..., result_digest: _Optional[str] = ..., owner: _Optional[str] = ..., parent_id: _Optional[str] = ..., include_scenario: _Optional[bool] = ..., project: _Optional[str] = ...) -> None: ...

class ListRunsResponse(_message.Message):
    __slots__ = ("runs", "next_page_token")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[_run_pb2.Run]
    next_page_token: str
    def __init__(self, runs: _Optional[_Iterable[_Union[_run_pb2.Run, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class WaitRunRequest(_message.Message):
    __slots__ = ("run_id", "timeout")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    timeout: _duration_pb2.Duration
    def __init__(self, run_id: _Optional[str] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class WaitRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ...) -> None: ...

class WatchRunRequest(_message.Message):
    __slots__ = ("run_id", "after_sequence", "states_only", "sample_interval_min")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    STATES_ONLY_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_INTERVAL_MIN_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    after_sequence: int
    states_only: bool
    sample_interval_min: _duration_pb2.Duration
    def __init__(self, run_id: _Optional[str] = ..., after_sequence: _Optional[int] = ..., states_only: _Optional[bool] = ..., sample_interval_min: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class WatchRunResponse(_message.Message):
    __slots__ = ("sequence", "time", "state_changed", "child_ended", "sample", "recovered", "heartbeat", "attempt_failed")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    STATE_CHANGED_FIELD_NUMBER: _ClassVar[int]
    CHILD_ENDED_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_FIELD_NUMBER: _ClassVar[int]
    RECOVERED_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FAILED_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    time: _timestamp_pb2.Timestamp
    state_changed: _run_pb2.Run
    child_ended: ChildEnded
    sample: _run_pb2.MetricSample
    recovered: Recovered
    heartbeat: Heartbeat
    attempt_failed: AttemptFailed
    def __init__(self, sequence: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., state_changed: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., child_ended: _Optional[_Union[ChildEnded, _Mapping]] = ..., sample: _Optional[_Union[_run_pb2.MetricSample, _Mapping]] = ..., recovered: _Optional[_Union[Recovered, _Mapping]] = ..., heartbeat: _Optional[_Union[Heartbeat, _Mapping]] = ..., attempt_failed: _Optional[_Union[AttemptFailed, _Mapping]] = ...) -> None: ...

class ChildEnded(_message.Message):
    __slots__ = ("run_id", "child_number", "state", "progress")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CHILD_NUMBER_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    child_number: int
    state: _run_pb2.RunState
    progress: _run_pb2.Progress
    def __init__(self, run_id: _Optional[str] = ..., child_number: _Optional[int] = ..., state: _Optional[_Union[_run_pb2.RunState, str]] = ..., progress: _Optional[_Union[_run_pb2.Progress, _Mapping]] = ...) -> None: ...

class Recovered(_message.Message):
    __slots__ = ("cycle",)
    CYCLE_FIELD_NUMBER: _ClassVar[int]
    cycle: int
    def __init__(self, cycle: _Optional[int] = ...) -> None: ...

class AttemptFailed(_message.Message):
    __slots__ = ("attempt", "error")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    error: _run_pb2.RunError
    def __init__(self, attempt: _Optional[int] = ..., error: _Optional[_Union[_run_pb2.RunError, _Mapping]] = ...) -> None: ...

class Heartbeat(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CancelRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class CancelRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ...) -> None: ...

class RetryRunRequest(_message.Message):
    __slots__ = ("run_id", "request_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    request_id: str
    def __init__(self, run_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class RetryRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ...) -> None: ...

class DeleteRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class DeleteRunResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
