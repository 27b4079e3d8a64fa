"""The client against a server that is older than it."""

from collections.abc import Iterator
from concurrent import futures

import grpc
import pytest

import tailback
from tailback_api.tailback.v1 import run_pb2, run_service_pb2, run_service_pb2_grpc
from tailback_api.tailback.v1 import system_service_pb2, system_service_pb2_grpc


class OldServer(system_service_pb2_grpc.SystemServiceServicer, run_service_pb2_grpc.RunServiceServicer):
    """Knows nothing of private runs, and makes all that it is asked for."""

    created = 0

    def GetServerInfo(self, request, context):
        return system_service_pb2.GetServerInfoResponse(version="0.0.1", features=["sweeps"])

    def CreateRun(self, request, context):
        self.created += 1
        return run_service_pb2.CreateRunResponse(run=run_pb2.Run(id="run"))


@pytest.fixture
def old() -> Iterator[tuple[OldServer, str]]:
    service, server = OldServer(), grpc.server(futures.ThreadPoolExecutor(1))
    system_service_pb2_grpc.add_SystemServiceServicer_to_server(service, server)
    run_service_pb2_grpc.add_RunServiceServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield service, f"127.0.0.1:{port}"
    server.stop(None)


def test_a_server_that_knows_no_private_runs_is_not_asked_for_one(old, small):
    service, address = old
    with tailback.Client(address) as client:
        with pytest.raises(tailback.NotKnown, match="version 0.0.1.*does not know `private`"):
            client.run(small, private=True)
        with pytest.raises(tailback.NotKnown, match="does not know `projects`"):
            client.run(small, project="fabric")
        assert service.created == 0
        assert client.run(small).id == "run"


async def test_the_same_for_asyncio(old, small):
    service, address = old
    async with tailback.aio.Client(address) as client:
        with pytest.raises(tailback.NotKnown):
            await client.run(small, private=True)
    assert service.created == 0
