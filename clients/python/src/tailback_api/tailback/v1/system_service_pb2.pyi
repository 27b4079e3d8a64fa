import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetServerInfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetServerInfoResponse(_message.Message):
    __slots__ = ("version", "limits", "features", "runs_pending", "runs_running", "caller", "caller_role")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    RUNS_PENDING_FIELD_NUMBER: _ClassVar[int]
    RUNS_RUNNING_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    CALLER_ROLE_FIELD_NUMBER: _ClassVar[int]
    version: str
    limits: ServerLimits
    features: _containers.RepeatedScalarFieldContainer[str]
    runs_pending: int
    runs_running: int
    caller: str
    caller_role: str
    def __init__(self, version: _Optional[str] = ..., limits: _Optional[_Union[ServerLimits, _Mapping]] = ..., features: _Optional[_Iterable[str]] = ..., runs_pending: _Optional[int] = ..., runs_running: _Optional[int] = ..., caller: _Optional[str] = ..., caller_role: _Optional[str] = ...) -> None: ...

class ServerLimits(_message.Message):
    __slots__ = ("queue_max", "concurrent_runs_max", "threads_max", "nodes_max", "memory_bytes_max", "wall_time_max", "artifact_bytes_max", "sweep_runs_max", "scenario_bytes_max", "message_bytes_max", "streams_max", "stream_lifetime_max", "stream_stall_max", "wait_max", "heartbeat_interval", "events_kept_max", "header_bytes_max", "connection_calls_max", "checks_max", "samples_kept_max", "sample_interval", "checkpoint_interval", "listed_nodes_max", "answer_bytes_max", "check_time_max", "reads_max", "group_pairs_max", "queue_per_owner_max", "concurrent_runs_per_owner_max", "threads_per_owner_max", "memory_bytes_per_owner_max", "attempts_max", "connections_max", "connections_per_peer_max", "ended_age_max", "ended_artifact_bytes_max", "body_time_max", "body_bytes_max", "file_bytes_max", "files_per_owner_max", "file_bytes_per_owner_max", "uploads_max", "file_text_bytes_max", "file_age_max", "threads_per_run_max", "memory_bytes_per_run_max", "sweep_table_bytes_max")
    QUEUE_MAX_FIELD_NUMBER: _ClassVar[int]
    CONCURRENT_RUNS_MAX_FIELD_NUMBER: _ClassVar[int]
    THREADS_MAX_FIELD_NUMBER: _ClassVar[int]
    NODES_MAX_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    WALL_TIME_MAX_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    SWEEP_RUNS_MAX_FIELD_NUMBER: _ClassVar[int]
    SCENARIO_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    STREAMS_MAX_FIELD_NUMBER: _ClassVar[int]
    STREAM_LIFETIME_MAX_FIELD_NUMBER: _ClassVar[int]
    STREAM_STALL_MAX_FIELD_NUMBER: _ClassVar[int]
    WAIT_MAX_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    EVENTS_KEPT_MAX_FIELD_NUMBER: _ClassVar[int]
    HEADER_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    CONNECTION_CALLS_MAX_FIELD_NUMBER: _ClassVar[int]
    CHECKS_MAX_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_KEPT_MAX_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    LISTED_NODES_MAX_FIELD_NUMBER: _ClassVar[int]
    ANSWER_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    CHECK_TIME_MAX_FIELD_NUMBER: _ClassVar[int]
    READS_MAX_FIELD_NUMBER: _ClassVar[int]
    GROUP_PAIRS_MAX_FIELD_NUMBER: _ClassVar[int]
    QUEUE_PER_OWNER_MAX_FIELD_NUMBER: _ClassVar[int]
    CONCURRENT_RUNS_PER_OWNER_MAX_FIELD_NUMBER: _ClassVar[int]
    THREADS_PER_OWNER_MAX_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_PER_OWNER_MAX_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_MAX_FIELD_NUMBER: _ClassVar[int]
    CONNECTIONS_MAX_FIELD_NUMBER: _ClassVar[int]
    CONNECTIONS_PER_PEER_MAX_FIELD_NUMBER: _ClassVar[int]
    ENDED_AGE_MAX_FIELD_NUMBER: _ClassVar[int]
    ENDED_ARTIFACT_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    BODY_TIME_MAX_FIELD_NUMBER: _ClassVar[int]
    BODY_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    FILE_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    FILES_PER_OWNER_MAX_FIELD_NUMBER: _ClassVar[int]
    FILE_BYTES_PER_OWNER_MAX_FIELD_NUMBER: _ClassVar[int]
    UPLOADS_MAX_FIELD_NUMBER: _ClassVar[int]
    FILE_TEXT_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    FILE_AGE_MAX_FIELD_NUMBER: _ClassVar[int]
    THREADS_PER_RUN_MAX_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_PER_RUN_MAX_FIELD_NUMBER: _ClassVar[int]
    SWEEP_TABLE_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    queue_max: int
    concurrent_runs_max: int
    threads_max: int
    nodes_max: int
    memory_bytes_max: int
    wall_time_max: _duration_pb2.Duration
    artifact_bytes_max: int
    sweep_runs_max: int
    scenario_bytes_max: int
    message_bytes_max: int
    streams_max: int
    stream_lifetime_max: _duration_pb2.Duration
    stream_stall_max: _duration_pb2.Duration
    wait_max: _duration_pb2.Duration
    heartbeat_interval: _duration_pb2.Duration
    events_kept_max: int
    header_bytes_max: int
    connection_calls_max: int
    checks_max: int
    samples_kept_max: int
    sample_interval: _duration_pb2.Duration
    checkpoint_interval: _duration_pb2.Duration
    listed_nodes_max: int
    answer_bytes_max: int
    check_time_max: _duration_pb2.Duration
    reads_max: int
    group_pairs_max: int
    queue_per_owner_max: int
    concurrent_runs_per_owner_max: int
    threads_per_owner_max: int
    memory_bytes_per_owner_max: int
    attempts_max: int
    connections_max: int
    connections_per_peer_max: int
    ended_age_max: _duration_pb2.Duration
    ended_artifact_bytes_max: int
    body_time_max: _duration_pb2.Duration
    body_bytes_max: int
    file_bytes_max: int
    files_per_owner_max: int
    file_bytes_per_owner_max: int
    uploads_max: int
    file_text_bytes_max: int
    file_age_max: _duration_pb2.Duration
    threads_per_run_max: int
    memory_bytes_per_run_max: int
    sweep_table_bytes_max: int
    def __init__(self, queue_max: _Optional[int] = ..., concurrent_runs_max: _Optional[int] = ..., threads_max: _Optional[int] = ..., nodes_max: _Optional[int] = ..., memory_bytes_max: _Optional[int] = ..., wall_time_max: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., artifact_bytes_max: _Optional[int] = ..., sweep_runs_max: _Optional[int] = ..., scenario_bytes_max: _Optional[int] = ..., message_bytes_max: _Optional[int] = ..., streams_max: _Optional[int] = ..., stream_lifetime_max: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., stream_stall_max: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., wait_max: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., heartbeat_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., events_kept_max: _Optional[int] = ..., header_bytes_max: _Optional[int] = ..., connection_calls_max: _Optional[int] = ..., checks_max: _Optional[int] = ..., samples_kept_max: _Optional[int] = ..., sample_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., checkpoint_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., listed_nodes_max: _Optional[int] = ..., answer_bytes_max: _Optional[int] = ..., check_time_max: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., reads_max: _Optional[int] = ..., group_pairs_max: _Optional[int] = ..., queue_per_owner_max: _Optional[int] = ..., concurrent_runs_per_owner_max: _Optional[int] = ..., threads_per_owner_max: _Optional[int] = ..., memory_bytes_per_owner_max: _Optional[int] = ..., attempts_max: _Optional[int] = ..., connections_max: _Optional[int] = ..., connections_per_peer_max: _Optional[int] = ..., ended_age_max: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., ended_artifact_bytes_max: _Optional[int] = ..., body_time_max: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., body_bytes_max: _Optional[int] = ..., file_bytes_max: _Optional[int] = ..., files_per_owner_max: _Optional[int] = ..., file_bytes_per_owner_max: _Optional[int] = ..., uploads_max: _Optional[int] = ..., file_text_bytes_max: _Optional[int] = ..., file_age_max: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., threads_per_run_max: _Optional[int] = ..., memory_bytes_per_run_max: _Optional[int] = ..., sweep_table_bytes_max: _Optional[int] = ...) -> None: ...
