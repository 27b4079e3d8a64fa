"""The client for asyncio: the same words, awaited."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc

from tailback_api.tailback.v1 import (
    file_service_pb2,
    file_service_pb2_grpc,
    result_service_pb2,
    result_service_pb2_grpc,
    run_pb2,
    run_service_pb2,
    run_service_pb2_grpc,
    scenario_service_pb2,
    scenario_service_pb2_grpc,
    system_service_pb2,
    system_service_pb2_grpc,
)

from . import requests
from .errors import DataLoss, NotFound, RunFailed, from_rpc

if TYPE_CHECKING:
    import pandas


class Client:
    """A server, by `host:port`; see `tailback.Client`."""

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        credentials: grpc.ChannelCredentials | None = None,
        retry_time: float = requests.RETRY_TIME,
    ) -> None:
        self._retry_time = retry_time
        self._metadata = requests.metadata(token)
        if credentials is None:
            self._channel = grpc.aio.insecure_channel(address, options=requests.CHANNEL_OPTIONS)
        else:
            self._channel = grpc.aio.secure_channel(address, credentials, options=requests.CHANNEL_OPTIONS)
        self._runs = run_service_pb2_grpc.RunServiceStub(self._channel)
        self._results = result_service_pb2_grpc.ResultServiceStub(self._channel)
        self._scenarios = scenario_service_pb2_grpc.ScenarioServiceStub(self._channel)
        self._files = file_service_pb2_grpc.FileServiceStub(self._channel)
        self._system = system_service_pb2_grpc.SystemServiceStub(self._channel)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connection."""
        await self._channel.close()

    async def run(
        self,
        source: str | Path,
        overrides: Mapping[str, Any] | Sequence[str] = (),
        *,
        over: Iterable[str] | None = None,
        seeds: int = 0,
        run_saturated: bool = False,
        threads: int | None = None,
        labels: Mapping[str, str] | None = None,
        run_id: str = "",
        priority: int = 0,
        reuse: bool = False,
        private: bool = False,
        project: str = "",
        files: Mapping[str, str | Path] | None = None,
    ) -> Run:
        """Has the server simulate a scenario: a file or a text. With `over` or `seeds` it is a sweep. Of what waits, the
        highest `priority` goes first. With `reuse`, results that are there already do; with `private`, only its owner and
        admins see it; with `project`, those in that project, who may change it too. What its programs name is uploaded if it lies beside the file; `files` has other paths for these names,
        or SHA-256s of files that were uploaded."""
        request = requests.create(
            source,
            overrides,
            over=over,
            seeds=seeds,
            run_saturated=run_saturated,
            threads=threads,
            labels=labels or {},
            run_id=run_id,
            priority=priority,
            reuse=reuse,
            private=private,
            project=project,
        )
        if private:
            requests.must_know(await self.server_info(), "private")
        if project:
            requests.must_know(await self.server_info(), "projects")
        named = await self._name_files(request.scenario, source, files)
        # The request has an id: made again after a lost answer it gives the same run.
        return Run(self, (await self._call_with_files(self._runs.CreateRun, request, named)).run)

    async def get(self, run_id: str) -> Run:
        """A run by its name."""
        found = await self._call(self._runs.GetRun, run_service_pb2.GetRunRequest(run_id=run_id))
        return Run(self, found.run)

    async def runs(self, **filters: Any) -> AsyncIterator[Run]:
        """All runs, the newest first; `filters` are fields of ListRunsRequest."""
        request = run_service_pb2.ListRunsRequest(**filters)
        while True:
            page = await self._call(self._runs.ListRuns, request)
            for run in page.runs:
                yield Run(self, run)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def validate(
        self,
        source: str | Path,
        overrides: Mapping[str, Any] | Sequence[str] = (),
        *,
        files: Mapping[str, str | Path] | None = None,
    ) -> scenario_service_pb2.ValidateScenarioResponse:
        """What a scenario means, or its mistakes; `files` are as in `run`."""
        scenario = requests.scenario(source, overrides)
        named = await self._name_files(scenario, source, files)
        request = scenario_service_pb2.ValidateScenarioRequest(scenario=scenario)
        return await self._call_with_files(self._scenarios.ValidateScenario, request, named)

    async def upload(self, path: str | Path, *, name: str = "", again: bool = False) -> file_service_pb2.File:
        """Has the server keep a file that scenarios can name; one that it has is not sent, unless `again` says so, as it has to
        be if what the server has is damaged. The file is read beside the loop."""
        path = Path(path)
        header = await asyncio.to_thread(requests.header, path, name or path.name)
        if not again:
            owner = (await self.server_info()).caller
            for file in await self.files(sha256=header.sha256, owner=owner):
                return file
        retry = self._retry()
        while True:
            try:
                parts = _beside_the_loop(requests.parts(path, header))
                return (await self._files.UploadFile(parts, metadata=self._metadata)).file
            except grpc.RpcError as error:
                told = from_rpc(error)
            await asyncio.sleep(retry.pause(told))

    async def files(self, **filters: Any) -> list[file_service_pb2.File]:
        """The files that were uploaded; `filters` are fields of ListFilesRequest."""
        request = file_service_pb2.ListFilesRequest(**filters)
        found: list[file_service_pb2.File] = []
        while True:
            page = await self._call(self._files.ListFiles, request)
            found += page.files
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    async def delete_file(self, sha256: str, *, owner: str = "") -> None:
        """Deletes a file that no run needs."""
        request, retry = file_service_pb2.DeleteFileRequest(sha256=sha256, owner=owner), self._retry()
        try:
            await self._call(self._files.DeleteFile, request, retry)
        except NotFound:
            # It may have been this call that deleted it, and whose answer was lost.
            if not retry.has_repeated:
                raise

    async def _name_files(
        self, scenario: run_pb2.Scenario, source: str | Path, files: Mapping[str, str | Path] | None
    ) -> dict[str, str | Path]:
        """Says which files a scenario names, and uploads those that the server does not have; gives where they are, by their
        SHA-256s."""
        named, paths = requests.named_files(source, files or {}), {}
        if named:
            requests.must_know(await self.server_info(), "files")
        for name, file in named.items():
            if requests.is_digest(file):
                scenario.files[name] = str(file)
            else:
                scenario.files[name] = (await self.upload(file)).sha256
                paths[scenario.files[name]] = file
        return paths

    async def _call_with_files(self, method: Any, request: Any, named: dict[str, str | Path]) -> Any:
        """Makes a call whose scenario names files. Those that are found damaged on the server, or gone meanwhile, are sent once."""
        while True:
            try:
                return await self._call(method, request)
            except (DataLoss, NotFound) as refused:
                file = named.pop(refused.metadata.get("file", ""), None)
                if file is None:
                    raise
            await self.upload(file, again=True)

    async def models(self, kind: str = "") -> list[scenario_service_pb2.ModelSummary]:
        """What scenarios can be made of."""
        request = scenario_service_pb2.ListModelsRequest(kind=kind)
        return list((await self._call(self._scenarios.ListModels, request)).models)

    async def schema(self) -> dict[str, Any]:
        """The JSON Schema of whole scenarios."""
        request = scenario_service_pb2.GetScenarioSchemaRequest()
        return json.loads((await self._call(self._scenarios.GetScenarioSchema, request)).json_schema)

    async def server_info(self) -> system_service_pb2.GetServerInfoResponse:
        """Version, limits and features of the server."""
        return await self._call(self._system.GetServerInfo, system_service_pb2.GetServerInfoRequest())

    def _retry(self) -> requests.Retry:
        return requests.Retry(self._retry_time)

    async def _call(self, method: Any, request: Any, retry: requests.Retry | None = None) -> Any:
        """Makes a call until it is answered: none does more when it is made twice."""
        retry = retry or self._retry()
        while True:
            try:
                return await method(request, metadata=self._metadata)
            except grpc.RpcError as error:
                told = from_rpc(error)
            await asyncio.sleep(retry.pause(told))


async def _beside_the_loop(items: Iterator[Any]) -> AsyncIterator[Any]:
    """What takes its time to be made, each on another thread."""
    while (item := await asyncio.to_thread(next, items, None)) is not None:
        yield item


class Run:
    """A run on a server. `info` is what was last heard of it."""

    def __init__(self, client: Client, info: run_pb2.Run) -> None:
        self._client = client
        self.info = info

    @property
    def id(self) -> str:
        """Its name."""
        return self.info.id

    @property
    def state(self) -> str:
        """Where it stood when it was last heard of, such as `SUCCEEDED`."""
        return run_pb2.RunState.Name(self.info.state).removeprefix("RUN_STATE_")

    async def refresh(self) -> Run:
        """Hears of it anew."""
        self.info = (await self._client.get(self.id)).info
        return self

    async def events(
        self, after: int = 0, *, states_only: bool = False
    ) -> AsyncIterator[run_service_pb2.WatchRunResponse]:
        """What happens to it, until it has ended. A stream that breaks off is taken up again, nothing lost or twice."""
        retry = self._client._retry()
        while True:
            request = run_service_pb2.WatchRunRequest(
                run_id=self.id, after_sequence=after, states_only=states_only
            )
            try:
                async for event in self._client._runs.WatchRun(request, metadata=self._client._metadata):
                    retry.answered()
                    after = event.sequence
                    if event.WhichOneof("event") != "heartbeat":
                        yield event
                return
            except grpc.RpcError as error:
                told = from_rpc(error)
            await asyncio.sleep(retry.pause(told))

    async def wait(self, *, progress: bool = False) -> Run:
        """Waits until it has ended, with a bar if wanted; raises RunFailed unless it has succeeded."""
        bar = requests.Bar(progress, self.id)
        try:
            async for event in self.events(states_only=not progress):
                bar.show(event)
        finally:
            bar.close()
        await self.refresh()
        if self.info.state != run_pb2.RUN_STATE_SUCCEEDED:
            raise RunFailed(self.info)
        return self

    async def cancel(self) -> Run:
        """Asks it to stop."""
        request = run_service_pb2.CancelRunRequest(run_id=self.id)
        self.info = (await self._client._call(self._client._runs.CancelRun, request)).run
        return self

    async def retry(self) -> Run:
        """Has it simulated again if it failed or was cancelled; of a sweep, those of its runs."""
        request = requests.retry(self.id)
        self.info = (await self._client._call(self._client._runs.RetryRun, request)).run
        return self

    async def delete(self) -> None:
        """Deletes it with all that it has found."""
        request, retry = run_service_pb2.DeleteRunRequest(run_id=self.id), self._client._retry()
        try:
            await self._client._call(self._client._runs.DeleteRun, request, retry)
        except NotFound:
            # It may have been this call that deleted it, and whose answer was lost.
            if not retry.has_repeated:
                raise

    async def children(self) -> list[Run]:
        """The runs of a sweep, in their order."""
        return [child async for child in self._client.runs(parent_id=self.id, page_size=1000)]

    async def report(self) -> dict[str, Any]:
        """What it has found."""
        request = result_service_pb2.GetReportRequest(run_id=self.id)
        return json.loads((await self._client._call(self._client._results.GetReport, request)).json)

    async def series(self, columns: Sequence[str] = (), **selection: Any) -> pandas.DataFrame:
        """Its time series, or the table of a sweep; `selection` are fields of QuerySeriesRequest."""
        request = result_service_pb2.QuerySeriesRequest(run_id=self.id, columns=columns, **selection)
        return requests.frame(await self._client._call(self._client._results.QuerySeries, request))

    async def artifacts(self) -> dict[str, result_service_pb2.Artifact]:
        """Its files, by name."""
        request = result_service_pb2.ListArtifactsRequest(run_id=self.id)
        listed = await self._client._call(self._client._results.ListArtifacts, request)
        return {artifact.name: artifact for artifact in listed.artifacts}

    async def read(self, name: str) -> bytes:
        """The content of a file, which is compared with its SHA-256 beside the loop. A stream that breaks off is taken up again
        where it was."""
        content, artifact, retry = bytearray(), None, self._client._retry()
        while True:
            request = result_service_pb2.ReadArtifactRequest(run_id=self.id, name=name, offset=len(content))
            try:
                async for piece in self._client._results.ReadArtifact(request, metadata=self._client._metadata):
                    artifact = piece.artifact if piece.HasField("artifact") else artifact
                    content += piece.content
                    retry.answered()
                assert artifact is not None
                return await asyncio.to_thread(requests.checked, bytes(content), artifact)
            except grpc.RpcError as error:
                told = from_rpc(error)
            await asyncio.sleep(retry.pause(told))

    async def table(self, name: str, columns: Sequence[str] = (), **selection: Any) -> pandas.DataFrame:
        """Another table of it, as far as `measure` asks for it: `histograms`, `links`, `messages` or `trees`; `selection` is as
        of `series`."""
        requests.must_know(await self._client.server_info(), "tables")
        return await self.series(columns, table=name, **selection)

    async def samples(self) -> pandas.DataFrame:
        """What was measured while it was simulated, as far as it is kept: also if it failed, or has no series.
        Waits until it has ended."""
        return requests.samples([event async for event in self.events()])

    async def to_pandas(self) -> pandas.DataFrame:
        """The table of a sweep; the time series of a run if it has one, else its report as a row."""
        if not self.info.HasField("sweep") and "series.csv" not in await self.artifacts():
            return requests.report_row(await self.report())
        return await self.series()
