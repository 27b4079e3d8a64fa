from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class ErrorReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_REASON_UNSPECIFIED: _ClassVar[ErrorReason]
    ERROR_REASON_INVALID_SCENARIO: _ClassVar[ErrorReason]
    ERROR_REASON_INVALID_REQUEST: _ClassVar[ErrorReason]
    ERROR_REASON_RUN_NOT_FOUND: _ClassVar[ErrorReason]
    ERROR_REASON_ARTIFACT_NOT_FOUND: _ClassVar[ErrorReason]
    ERROR_REASON_MODEL_NOT_FOUND: _ClassVar[ErrorReason]
    ERROR_REASON_RUN_EXISTS: _ClassVar[ErrorReason]
    ERROR_REASON_REQUEST_ID_REUSED: _ClassVar[ErrorReason]
    ERROR_REASON_RUN_NOT_ENDED: _ClassVar[ErrorReason]
    ERROR_REASON_NO_RESULTS: _ClassVar[ErrorReason]
    ERROR_REASON_NO_SERIES: _ClassVar[ErrorReason]
    ERROR_REASON_PART_OF_SWEEP: _ClassVar[ErrorReason]
    ERROR_REASON_QUEUE_FULL: _ClassVar[ErrorReason]
    ERROR_REASON_LIMIT_EXCEEDED: _ClassVar[ErrorReason]
    ERROR_REASON_TOO_MANY_STREAMS: _ClassVar[ErrorReason]
    ERROR_REASON_STORAGE_FULL: _ClassVar[ErrorReason]
    ERROR_REASON_SEQUENCE_GONE: _ClassVar[ErrorReason]
    ERROR_REASON_OFFSET_OUT_OF_RANGE: _ClassVar[ErrorReason]
    ERROR_REASON_WATCH_TOO_SLOW: _ClassVar[ErrorReason]
    ERROR_REASON_SHUTTING_DOWN: _ClassVar[ErrorReason]
    ERROR_REASON_STREAM_EXPIRED: _ClassVar[ErrorReason]
    ERROR_REASON_NOT_AUTHENTICATED: _ClassVar[ErrorReason]
    ERROR_REASON_NOT_ALLOWED: _ClassVar[ErrorReason]
    ERROR_REASON_DEADLINE_PASSED: _ClassVar[ErrorReason]
    ERROR_REASON_INTERNAL: _ClassVar[ErrorReason]
    ERROR_REASON_DATA_LOSS: _ClassVar[ErrorReason]
    ERROR_REASON_NOTHING_TO_RETRY: _ClassVar[ErrorReason]
    ERROR_REASON_FILE_NOT_FOUND: _ClassVar[ErrorReason]
    ERROR_REASON_FILE_IN_USE: _ClassVar[ErrorReason]
    ERROR_REASON_READ_TOO_SLOW: _ClassVar[ErrorReason]
ERROR_REASON_UNSPECIFIED: ErrorReason
ERROR_REASON_INVALID_SCENARIO: ErrorReason
ERROR_REASON_INVALID_REQUEST: ErrorReason
ERROR_REASON_RUN_NOT_FOUND: ErrorReason
ERROR_REASON_ARTIFACT_NOT_FOUND: ErrorReason
ERROR_REASON_MODEL_NOT_FOUND: ErrorReason
ERROR_REASON_RUN_EXISTS: ErrorReason
ERROR_REASON_REQUEST_ID_REUSED: ErrorReason
ERROR_REASON_RUN_NOT_ENDED: ErrorReason
ERROR_REASON_NO_RESULTS: ErrorReason
ERROR_REASON_NO_SERIES: ErrorReason
ERROR_REASON_PART_OF_SWEEP: ErrorReason
ERROR_REASON_QUEUE_FULL: ErrorReason
ERROR_REASON_LIMIT_EXCEEDED: ErrorReason
ERROR_REASON_TOO_MANY_STREAMS: ErrorReason
ERROR_REASON_STORAGE_FULL: ErrorReason
ERROR_REASON_SEQUENCE_GONE: ErrorReason
ERROR_REASON_OFFSET_OUT_OF_RANGE: ErrorReason
ERROR_REASON_WATCH_TOO_SLOW: ErrorReason
ERROR_REASON_SHUTTING_DOWN: ErrorReason
ERROR_REASON_STREAM_EXPIRED: ErrorReason
ERROR_REASON_NOT_AUTHENTICATED: ErrorReason
ERROR_REASON_NOT_ALLOWED: ErrorReason
ERROR_REASON_DEADLINE_PASSED: ErrorReason
ERROR_REASON_INTERNAL: ErrorReason
ERROR_REASON_DATA_LOSS: ErrorReason
ERROR_REASON_NOTHING_TO_RETRY: ErrorReason
ERROR_REASON_FILE_NOT_FOUND: ErrorReason
ERROR_REASON_FILE_IN_USE: ErrorReason
ERROR_REASON_READ_TOO_SLOW: ErrorReason
