import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RunState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_STATE_UNSPECIFIED: _ClassVar[RunState]
    RUN_STATE_PENDING: _ClassVar[RunState]
    RUN_STATE_RUNNING: _ClassVar[RunState]
    RUN_STATE_CANCELLING: _ClassVar[RunState]
    RUN_STATE_SUCCEEDED: _ClassVar[RunState]
    RUN_STATE_FAILED: _ClassVar[RunState]
    RUN_STATE_CANCELLED: _ClassVar[RunState]

class RunErrorReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_ERROR_REASON_UNSPECIFIED: _ClassVar[RunErrorReason]
    RUN_ERROR_REASON_DEADLOCK: _ClassVar[RunErrorReason]
    RUN_ERROR_REASON_INCONSISTENT: _ClassVar[RunErrorReason]
    RUN_ERROR_REASON_PANICKED: _ClassVar[RunErrorReason]
    RUN_ERROR_REASON_WALL_TIME: _ClassVar[RunErrorReason]
    RUN_ERROR_REASON_ARTIFACT_BYTES: _ClassVar[RunErrorReason]
    RUN_ERROR_REASON_STORAGE_FULL: _ClassVar[RunErrorReason]
    RUN_ERROR_REASON_STORAGE: _ClassVar[RunErrorReason]
    RUN_ERROR_REASON_SCENARIO: _ClassVar[RunErrorReason]
    RUN_ERROR_REASON_THREADS: _ClassVar[RunErrorReason]
    RUN_ERROR_REASON_CHILDREN: _ClassVar[RunErrorReason]
    RUN_ERROR_REASON_MEMORY: _ClassVar[RunErrorReason]
    RUN_ERROR_REASON_WORKER_LOST: _ClassVar[RunErrorReason]
RUN_STATE_UNSPECIFIED: RunState
RUN_STATE_PENDING: RunState
RUN_STATE_RUNNING: RunState
RUN_STATE_CANCELLING: RunState
RUN_STATE_SUCCEEDED: RunState
RUN_STATE_FAILED: RunState
RUN_STATE_CANCELLED: RunState
RUN_ERROR_REASON_UNSPECIFIED: RunErrorReason
RUN_ERROR_REASON_DEADLOCK: RunErrorReason
RUN_ERROR_REASON_INCONSISTENT: RunErrorReason
RUN_ERROR_REASON_PANICKED: RunErrorReason
RUN_ERROR_REASON_WALL_TIME: RunErrorReason
RUN_ERROR_REASON_ARTIFACT_BYTES: RunErrorReason
RUN_ERROR_REASON_STORAGE_FULL: RunErrorReason
RUN_ERROR_REASON_STORAGE: RunErrorReason
RUN_ERROR_REASON_SCENARIO: RunErrorReason
RUN_ERROR_REASON_THREADS: RunErrorReason
RUN_ERROR_REASON_CHILDREN: RunErrorReason
RUN_ERROR_REASON_MEMORY: RunErrorReason
RUN_ERROR_REASON_WORKER_LOST: RunErrorReason

class Run(_message.Message):
    __slots__ = ("id", "owner", "labels", "scenario", "execution", "sweep", "state", "progress", "error", "summary", "scenario_digest", "result_digest", "create_time", "start_time", "end_time", "parent_id", "child_number", "restarts", "note", "title", "last_sequence", "failed_attempts", "private", "project")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    SCENARIO_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_FIELD_NUMBER: _ClassVar[int]
    SWEEP_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    SCENARIO_DIGEST_FIELD_NUMBER: _ClassVar[int]
    RESULT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    CHILD_NUMBER_FIELD_NUMBER: _ClassVar[int]
    RESTARTS_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    FAILED_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    PRIVATE_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    id: str
    owner: str
    labels: _containers.ScalarMap[str, str]
    scenario: Scenario
    execution: Execution
    sweep: Sweep
    state: RunState
    progress: Progress
    error: RunError
    summary: Summary
    scenario_digest: str
    result_digest: str
    create_time: _timestamp_pb2.Timestamp
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    parent_id: str
    child_number: int
    restarts: int
    note: str
    title: str
    last_sequence: int
    failed_attempts: int
    private: bool
    project: str
    def __init__(self, id: _Optional[str] = ..., owner: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., scenario: _Optional[_Union[Scenario, _Mapping]] = ..., execution: _Optional[_Union[Execution, _Mapping]] = ..., sweep: _Optional[_Union[Sweep, _Mapping]] = ..., state: _Optional[_Union[RunState, str]] = ..., progress: _Optional[_Union[Progress, _Mapping]] = ..., error: _Optional[_Union[RunError, _Mapping]] = ..., summary: _Optional[_Union[Summary, _Mapping]] = ..., scenario_digest: _Optional[str] = ..., result_digest: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., parent_id: _Optional[str] = ..., child_number: _Optional[int] = ..., restarts: _Optional[int] = ..., note: _Optional[str] = ..., title: _Optional[str] = ..., last_sequence: _Optional[int] = ..., failed_attempts: _Optional[int] = ..., private: _Optional[bool] = ..., project: _Optional[str] = ...) -> None: ...

class Scenario(_message.Message):
    __slots__ = ("name", "document", "overrides", "files")
    class FilesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    OVERRIDES_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    name: str
    document: str
    overrides: _containers.RepeatedScalarFieldContainer[str]
    files: _containers.ScalarMap[str, str]
    def __init__(self, name: _Optional[str] = ..., document: _Optional[str] = ..., overrides: _Optional[_Iterable[str]] = ..., files: _Optional[_Mapping[str, str]] = ...) -> None: ...

class Execution(_message.Message):
    __slots__ = ("threads", "wall_time_max", "artifact_bytes_max", "priority")
    THREADS_FIELD_NUMBER: _ClassVar[int]
    WALL_TIME_MAX_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    threads: int
    wall_time_max: _duration_pb2.Duration
    artifact_bytes_max: int
    priority: int
    def __init__(self, threads: _Optional[int] = ..., wall_time_max: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., artifact_bytes_max: _Optional[int] = ..., priority: _Optional[int] = ...) -> None: ...

class Sweep(_message.Message):
    __slots__ = ("over", "seeds", "run_saturated")
    OVER_FIELD_NUMBER: _ClassVar[int]
    SEEDS_FIELD_NUMBER: _ClassVar[int]
    RUN_SATURATED_FIELD_NUMBER: _ClassVar[int]
    over: _containers.RepeatedScalarFieldContainer[str]
    seeds: int
    run_saturated: bool
    def __init__(self, over: _Optional[_Iterable[str]] = ..., seeds: _Optional[int] = ..., run_saturated: _Optional[bool] = ...) -> None: ...

class Progress(_message.Message):
    __slots__ = ("cycle", "cycles", "packet_hops", "children_ended", "children", "children_failed")
    CYCLE_FIELD_NUMBER: _ClassVar[int]
    CYCLES_FIELD_NUMBER: _ClassVar[int]
    PACKET_HOPS_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_ENDED_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_FAILED_FIELD_NUMBER: _ClassVar[int]
    cycle: int
    cycles: int
    packet_hops: int
    children_ended: int
    children: int
    children_failed: int
    def __init__(self, cycle: _Optional[int] = ..., cycles: _Optional[int] = ..., packet_hops: _Optional[int] = ..., children_ended: _Optional[int] = ..., children: _Optional[int] = ..., children_failed: _Optional[int] = ...) -> None: ...

class RunError(_message.Message):
    __slots__ = ("reason", "message", "details")
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    reason: RunErrorReason
    message: str
    details: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, reason: _Optional[_Union[RunErrorReason, str]] = ..., message: _Optional[str] = ..., details: _Optional[_Iterable[str]] = ...) -> None: ...

class Summary(_message.Message):
    __slots__ = ("offered_load", "accepted_load", "latency_mean", "latency_p99", "hops_mean", "saturated", "wall_s")
    OFFERED_LOAD_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_LOAD_FIELD_NUMBER: _ClassVar[int]
    LATENCY_MEAN_FIELD_NUMBER: _ClassVar[int]
    LATENCY_P99_FIELD_NUMBER: _ClassVar[int]
    HOPS_MEAN_FIELD_NUMBER: _ClassVar[int]
    SATURATED_FIELD_NUMBER: _ClassVar[int]
    WALL_S_FIELD_NUMBER: _ClassVar[int]
    offered_load: float
    accepted_load: float
    latency_mean: float
    latency_p99: float
    hops_mean: float
    saturated: bool
    wall_s: float
    def __init__(self, offered_load: _Optional[float] = ..., accepted_load: _Optional[float] = ..., latency_mean: _Optional[float] = ..., latency_p99: _Optional[float] = ..., hops_mean: _Optional[float] = ..., saturated: _Optional[bool] = ..., wall_s: _Optional[float] = ...) -> None: ...

class MetricSample(_message.Message):
    __slots__ = ("cycle", "cycles", "from_cycle", "accepted_load", "latency_mean", "latency_p99", "packets_in_flight", "cycles_per_second", "packet_hops")
    CYCLE_FIELD_NUMBER: _ClassVar[int]
    CYCLES_FIELD_NUMBER: _ClassVar[int]
    FROM_CYCLE_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_LOAD_FIELD_NUMBER: _ClassVar[int]
    LATENCY_MEAN_FIELD_NUMBER: _ClassVar[int]
    LATENCY_P99_FIELD_NUMBER: _ClassVar[int]
    PACKETS_IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    CYCLES_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    PACKET_HOPS_FIELD_NUMBER: _ClassVar[int]
    cycle: int
    cycles: int
    from_cycle: int
    accepted_load: float
    latency_mean: float
    latency_p99: float
    packets_in_flight: int
    cycles_per_second: float
    packet_hops: int
    def __init__(self, cycle: _Optional[int] = ..., cycles: _Optional[int] = ..., from_cycle: _Optional[int] = ..., accepted_load: _Optional[float] = ..., latency_mean: _Optional[float] = ..., latency_p99: _Optional[float] = ..., packets_in_flight: _Optional[int] = ..., cycles_per_second: _Optional[float] = ..., packet_hops: _Optional[int] = ...) -> None: ...
