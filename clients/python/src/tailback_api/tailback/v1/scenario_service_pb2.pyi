from tailback_api.tailback.v1 import run_pb2 as _run_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ValidateScenarioRequest(_message.Message):
    __slots__ = ("scenario", "sweep")
    SCENARIO_FIELD_NUMBER: _ClassVar[int]
    SWEEP_FIELD_NUMBER: _ClassVar[int]
    scenario: _run_pb2.Scenario
    sweep: _run_pb2.Sweep
    def __init__(self, scenario: _Optional[_Union[_run_pb2.Scenario, _Mapping]] = ..., sweep: _Optional[_Union[_run_pb2.Sweep, _Mapping]] = ...) -> None: ...

class ValidateScenarioResponse(_message.Message):
    __slots__ = ("diagnostics", "resolved", "scenario_digest", "plan", "notes")
    DIAGNOSTICS_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_FIELD_NUMBER: _ClassVar[int]
    SCENARIO_DIGEST_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    diagnostics: _containers.RepeatedCompositeFieldContainer[Diagnostic]
    resolved: str
    scenario_digest: str
    plan: Plan
    notes: _containers.RepeatedCompositeFieldContainer[Diagnostic]
    def __init__(self, diagnostics: _Optional[_Iterable[_Union[Diagnostic, _Mapping]]] = ..., resolved: _Optional[str] = ..., scenario_digest: _Optional[str] = ..., plan: _Optional[_Union[Plan, _Mapping]] = ..., notes: _Optional[_Iterable[_Union[Diagnostic, _Mapping]]] = ...) -> None: ...

class Diagnostic(_message.Message):
    __slots__ = ("message", "help", "details", "source", "line", "column", "start", "end")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HELP_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    message: str
    help: str
    details: _containers.RepeatedScalarFieldContainer[str]
    source: str
    line: int
    column: int
    start: int
    end: int
    def __init__(self, message: _Optional[str] = ..., help: _Optional[str] = ..., details: _Optional[_Iterable[str]] = ..., source: _Optional[str] = ..., line: _Optional[int] = ..., column: _Optional[int] = ..., start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class Plan(_message.Message):
    __slots__ = ("nodes", "routers", "links", "regions", "lookahead_cycles", "memory_bytes", "cycles", "runs", "deadlock_freedom", "backlog_bytes_max", "backlog_limited")
    NODES_FIELD_NUMBER: _ClassVar[int]
    ROUTERS_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    REGIONS_FIELD_NUMBER: _ClassVar[int]
    LOOKAHEAD_CYCLES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    CYCLES_FIELD_NUMBER: _ClassVar[int]
    RUNS_FIELD_NUMBER: _ClassVar[int]
    DEADLOCK_FREEDOM_FIELD_NUMBER: _ClassVar[int]
    BACKLOG_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    BACKLOG_LIMITED_FIELD_NUMBER: _ClassVar[int]
    nodes: int
    routers: int
    links: int
    regions: int
    lookahead_cycles: float
    memory_bytes: int
    cycles: int
    runs: int
    deadlock_freedom: str
    backlog_bytes_max: int
    backlog_limited: bool
    def __init__(self, nodes: _Optional[int] = ..., routers: _Optional[int] = ..., links: _Optional[int] = ..., regions: _Optional[int] = ..., lookahead_cycles: _Optional[float] = ..., memory_bytes: _Optional[int] = ..., cycles: _Optional[int] = ..., runs: _Optional[int] = ..., deadlock_freedom: _Optional[str] = ..., backlog_bytes_max: _Optional[int] = ..., backlog_limited: _Optional[bool] = ...) -> None: ...

class ListModelsRequest(_message.Message):
    __slots__ = ("kind",)
    KIND_FIELD_NUMBER: _ClassVar[int]
    kind: str
    def __init__(self, kind: _Optional[str] = ...) -> None: ...

class ListModelsResponse(_message.Message):
    __slots__ = ("models",)
    MODELS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[ModelSummary]
    def __init__(self, models: _Optional[_Iterable[_Union[ModelSummary, _Mapping]]] = ...) -> None: ...

class ModelSummary(_message.Message):
    __slots__ = ("kind", "name", "summary")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    kind: str
    name: str
    summary: str
    def __init__(self, kind: _Optional[str] = ..., name: _Optional[str] = ..., summary: _Optional[str] = ...) -> None: ...

class GetModelRequest(_message.Message):
    __slots__ = ("kind", "name")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    kind: str
    name: str
    def __init__(self, kind: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class GetModelResponse(_message.Message):
    __slots__ = ("model",)
    MODEL_FIELD_NUMBER: _ClassVar[int]
    model: Model
    def __init__(self, model: _Optional[_Union[Model, _Mapping]] = ...) -> None: ...

class Model(_message.Message):
    __slots__ = ("summary", "parameters", "json_schema", "example")
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    JSON_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    EXAMPLE_FIELD_NUMBER: _ClassVar[int]
    summary: ModelSummary
    parameters: _containers.RepeatedCompositeFieldContainer[Parameter]
    json_schema: str
    example: str
    def __init__(self, summary: _Optional[_Union[ModelSummary, _Mapping]] = ..., parameters: _Optional[_Iterable[_Union[Parameter, _Mapping]]] = ..., json_schema: _Optional[str] = ..., example: _Optional[str] = ...) -> None: ...

class Parameter(_message.Message):
    __slots__ = ("name", "values", "default", "help")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_FIELD_NUMBER: _ClassVar[int]
    HELP_FIELD_NUMBER: _ClassVar[int]
    name: str
    values: str
    default: str
    help: str
    def __init__(self, name: _Optional[str] = ..., values: _Optional[str] = ..., default: _Optional[str] = ..., help: _Optional[str] = ...) -> None: ...

class GetScenarioSchemaRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetScenarioSchemaResponse(_message.Message):
    __slots__ = ("json_schema",)
    JSON_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    json_schema: str
    def __init__(self, json_schema: _Optional[str] = ...) -> None: ...
