"""The client for asyncio has the words of the other one, without a server of the real kind."""

import hashlib
import inspect
from collections.abc import Iterator
from concurrent import futures

import grpc
import pytest

import tailback
from tailback_api.tailback.v1 import result_service_pb2, result_service_pb2_grpc, run_pb2, run_service_pb2
from tailback_api.tailback.v1 import run_service_pb2_grpc, scenario_service_pb2, scenario_service_pb2_grpc

CONTENT = b"what it has found"


def words(kind: type) -> dict[str, list[str]]:
    """What can be said to it, and with what."""
    found = inspect.getmembers(kind, lambda member: callable(member) or isinstance(member, property))
    named = {name: getattr(member, "fget", member) for name, member in found if not name.startswith("_")}
    return {name: list(inspect.signature(word).parameters) for name, word in named.items()}


@pytest.mark.parametrize("name", ["Client", "Run"])
def test_all_words_are_there(name):
    assert words(getattr(tailback.aio, name)) == words(getattr(tailback, name))


class Interrupting(
    run_service_pb2_grpc.RunServiceServicer,
    result_service_pb2_grpc.ResultServiceServicer,
    scenario_service_pb2_grpc.ScenarioServiceServicer,
):
    """Has a sweep of two runs, and files whose streams break off in their middle, once each."""

    def GetRun(self, request, context):
        run = run_pb2.Run(id=request.run_id, state=run_pb2.RUN_STATE_SUCCEEDED)
        return run_service_pb2.GetRunResponse(run=run)

    def ListRuns(self, request, context):
        token = request.page_token
        run = run_pb2.Run(id=f"{request.parent_id}.{2 if token else 1}")
        return run_service_pb2.ListRunsResponse(runs=[run], next_page_token="" if token else "more")

    def ListModels(self, request, context):
        model = scenario_service_pb2.ModelSummary(kind=request.kind, name="dragonfly")
        return scenario_service_pb2.ListModelsResponse(models=[model])

    def ReadArtifact(self, request, context):
        sha256 = hashlib.sha256(CONTENT if request.name == "whole" else b"").hexdigest()
        artifact = result_service_pb2.Artifact(name=request.name, size=len(CONTENT), sha256=sha256)
        yield result_service_pb2.ReadArtifactResponse(artifact=artifact, content=CONTENT[request.offset :][:7])
        if request.offset == 0:
            context.abort(grpc.StatusCode.UNAVAILABLE, "lost")
        yield result_service_pb2.ReadArtifactResponse(content=CONTENT[request.offset + 7 :])


@pytest.fixture
def address() -> Iterator[str]:
    service, server = Interrupting(), grpc.server(futures.ThreadPoolExecutor(1))
    run_service_pb2_grpc.add_RunServiceServicer_to_server(service, server)
    result_service_pb2_grpc.add_ResultServiceServicer_to_server(service, server)
    scenario_service_pb2_grpc.add_ScenarioServiceServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None)


async def test_models_and_runs_of_a_sweep(address):
    async with tailback.aio.Client(address) as client:
        assert [(model.kind, model.name) for model in await client.models("topology")] == [("topology", "dragonfly")]
        run = tailback.aio.Run(client, run_pb2.Run(id="curve"))
        assert [child.id for child in await run.children()] == ["curve.1", "curve.2"]
        assert await run.refresh() is run and run.state == "SUCCEEDED"


async def test_files_are_read_on_where_they_broke_off_and_compared(address):
    async with tailback.aio.Client(address) as client:
        run = await client.get("one")
        assert await run.read("whole") == CONTENT
        with pytest.raises(OSError, match="damaged arrived damaged"):
            await run.read("damaged")
