"""What a server refuses is an exception by its reason, without a server."""

import grpc
import pytest
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

import tailback
from tailback.errors import from_rpc
from tailback_api.tailback.v1 import error_pb2


class Refused(grpc.RpcError):
    """What gRPC raises for a reason."""

    def __init__(self, reason: str) -> None:
        self._detail = any_pb2.Any()
        self._detail.Pack(error_details_pb2.ErrorInfo(reason=reason, domain="tailback"))

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.UNKNOWN

    def details(self) -> str:
        return "no"

    def trailing_metadata(self) -> list[tuple[str, bytes]]:
        return [("grpc-status-details-bin", status_pb2.Status(details=[self._detail]).SerializeToString())]


@pytest.mark.parametrize("name", error_pb2.ErrorReason.keys()[1:])
def test_each_reason_has_an_exception(name):
    reason = name.removeprefix("ERROR_REASON_")
    told = from_rpc(Refused(reason))
    assert told.reason == reason
    assert type(told) is not tailback.TailbackError and type(told).__name__ in tailback.__all__
