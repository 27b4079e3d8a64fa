"""The client against a real server."""

import os
import subprocess
import threading

import pytest

import tailback


def test_from_a_scenario_to_a_frame(client, small):
    run = client.run(small, {"measure.series": 100, "traffic.load": 0.2}, labels={"kind": "test"}).wait()
    assert run.state == "SUCCEEDED" and len(run.info.result_digest) == 64
    frame = run.to_pandas()
    assert list(frame["cycle"]) == [0, 100, 200, 300, 400]
    assert frame["accepted_load"].iloc[-1] == pytest.approx(0.2, abs=0.05)
    assert str(frame["cycle"].dtype) == "Int64"
    report = run.report()
    assert report["scenario_digest"] == run.info.scenario_digest and report["nodes"] == 72
    assert [found.id for found in client.runs(labels={"kind": "test"})] == [run.id]


def test_tables_are_frames(client, small):
    run = client.run(small, ["measure.links={ every = 100, select = \"global\" }", "measure.trees.every=100"]).wait()
    links = run.table("links", ["cycle", "utilisation"], from_cycle=200, until_cycle=300)
    assert list(links["cycle"].unique()) == [200] and len(links) == 72
    assert links.columns.tolist() == ["cycle", "utilisation"]
    assert (run.table("histograms")["count"] > 0).all()
    assert "root" in run.table("trees").columns
    with pytest.raises(tailback.NotFound):
        run.table("messages")


def test_a_run_without_series_is_a_row(client, small, tmp_path):
    (tmp_path / "small.toml").write_text(small)
    run = client.run(tmp_path / "small.toml").wait(progress=True)
    frame = run.to_pandas()
    assert len(frame) == 1 and frame["latency.message.mean"].iloc[0] > 50
    with pytest.raises(tailback.NoResults) as raised:
        run.series()
    assert raised.value.reason == "NO_SERIES"


def test_the_course_of_a_run_is_there_afterwards(client, small):
    run = client.run(small.replace("cycles = 400", "cycles = 200000")).wait()
    samples = run.samples()
    assert len(samples) > 1 and samples["cycle"].is_monotonic_increasing
    assert (samples["cycles"] == 200100).all() and samples["accepted_load"].iloc[-1] == pytest.approx(0.3, abs=0.1)
    assert samples.equals(client.get(run.id).samples())
    assert list(client.run(small).wait().samples().columns) == list(samples.columns)


def test_runs_have_priorities(client, small):
    run = client.run(small, priority=3).wait()
    assert run.info.execution.priority == 3
    with pytest.raises(tailback.TailbackError) as raised:
        client.run(small, priority=11)
    assert raised.value.violations[0].field == "execution.priority"


def test_what_was_cancelled_is_retried(client, endless):
    run = client.run(endless)
    run.cancel()
    with pytest.raises(tailback.RunFailed):
        run.wait()
    assert run.retry().state == "PENDING"
    run.cancel()


def test_runs_are_of_a_project(client, small):
    run = client.run(small, project="fabric").wait()
    assert run.info.project == "fabric"
    assert [found.id for found in client.runs(project="fabric")] == [run.id]
    with pytest.raises(tailback.TailbackError, match="private run is of no project"):
        client.run(small, project="fabric", private=True)


def test_results_are_reused_and_runs_private_when_asked_for(client, small):
    first = client.run(small, private=True).wait()
    again = client.run(small, reuse=True, private=True).wait()
    assert first.info.private and again.info.private and f"`{first.id}`" in again.info.note
    assert again.report() == first.report() and client.run(small).wait().info.note == ""


def test_a_sweep_is_a_table(client, small):
    run = client.run(small, over=["traffic.load=0.1..0.3/0.1"], run_saturated=True).wait(progress=True)
    frame = run.to_pandas()
    assert list(frame["traffic.load"]) == [0.1, 0.2, 0.3]
    assert [child.id for child in run.children()] == [f"{run.id}.{number}" for number in (1, 2, 3)]
    assert client.get(run.id).to_pandas().equals(frame)


def test_artifacts_arrive_whole(client, small):
    run = client.run(small, {"measure.series": 1}).wait()
    artifacts = run.artifacts()
    for name, artifact in artifacts.items():
        assert len(run.read(name)) == artifact.size
    with pytest.raises(tailback.NotFound):
        run.read("../../tailback.sqlite")


def test_mistakes_are_exceptions_by_reason(client, small, endless):
    with pytest.raises(tailback.InvalidScenario) as raised:
        client.run(small.replace("g = 9", "g = 10").replace("load = 0.3", "load = 2"))
    assert len(raised.value.violations) == 2 and "scenario:" in raised.value.violations[0].field
    with pytest.raises(tailback.NotFound):
        client.get("nobody")
    with pytest.raises(tailback.LimitExceeded) as raised:
        client.run(small, threads=100_000)
    assert raised.value.metadata["limit"] == "threads_max" and raised.value.metadata["asked"] == "100000"
    client.run(small, run_id="mine")
    with pytest.raises(tailback.AlreadyExists):
        client.run(small, run_id="mine")
    run = client.run(endless)
    run.cancel()
    with pytest.raises(tailback.RunFailed) as raised:
        run.wait()
    assert raised.value.reason == "CANCELLED"
    run.delete()
    with pytest.raises(tailback.NotFound):
        run.refresh()
    with pytest.raises(tailback.SequenceGone):
        list(client.get("mine").events(after=10**9))


def test_validating_and_models(client, small):
    assert client.validate(small).plan.nodes == 72
    assert client.validate(small, ["traffic.laod=1"]).diagnostics[0].help == "did you mean `load`?"
    assert "dragonfly" in [model.name for model in client.models("topology")]
    assert "sweeps" in client.server_info().features


def test_a_watch_survives_kills_of_the_server(server, client, small, caplog):
    run = client.run(small.replace("cycles = 400", "cycles = 400000"))
    numbers, states, killed = [], [], 0
    for event in run.events():
        numbers.append(event.sequence)
        kind = event.WhichOneof("event")
        if kind == "state_changed":
            states.append(event.state_changed.state)
        if kind == "sample" and killed < 2:
            killed += 1
            server.kill()
            # The watch finds nobody for a while, and goes on by itself.
            threading.Thread(target=server.start).start()
    assert killed == 2 and states == [1, 2, 4]
    assert numbers == sorted(set(numbers))
    assert run.refresh().info.restarts >= 1
    told = [record.getMessage() for record in caplog.records if record.name == "tailback"]
    assert len(told) == 2 and all("trying again for up to 300 s" in line for line in told), "each loss is told once"


async def test_waiting_survives_a_kill_for_asyncio_too(server, small):
    async with tailback.aio.Client(server.address) as client:
        run = await client.run(small.replace("cycles = 400", "cycles = 400000"))
        async for event in run.events():
            if event.WhichOneof("event") == "sample":
                break
        server.kill()
        threading.Thread(target=server.start).start()
        assert (await run.wait()).info.restarts == 1


def test_without_time_a_lost_server_is_the_end(server, small):
    with tailback.Client(server.address, retry_time=0) as client:
        run = client.run(small).wait()
        server.kill()
        with pytest.raises(tailback.Unavailable):
            run.refresh()


def test_tokens(serve, small, tmp_path):
    made = subprocess.run(
        [os.environ.get("TAILBACK", "tailback"), "token", "alice", "--tokens", "tokens"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )
    server = serve("--tokens", "tokens")
    with tailback.Client(server.address) as nobody, pytest.raises(tailback.NotAuthenticated):
        nobody.run(small)
    with tailback.Client(server.address, token=made.stdout.strip()) as alice:
        assert alice.run(small).wait().info.owner == "alice"


async def test_the_same_for_asyncio(server, small):
    async with tailback.aio.Client(server.address) as client:
        run = await client.run(small, {"measure.series": 100})
        kinds = [event.WhichOneof("event") async for event in run.events(states_only=True)]
        assert kinds == ["state_changed"] * 3
        await run.wait(progress=True)
        assert len(await run.to_pandas()) == 5
        assert "figure" in (await run.table("histograms")).columns
        assert "packets_in_flight" in (await run.samples()).columns
        assert [found.id async for found in client.runs()] == [run.id]
        with pytest.raises(tailback.NotFound):
            await client.get("nobody")
        assert (await client.validate(small)).plan.runs == 1
        assert "topology" in (await client.schema())["properties"]
        assert "dragonfly" in [model.name for model in await client.models("topology")]
        assert (await run.refresh()).state == "SUCCEEDED"
        for name, artifact in (await run.artifacts()).items():
            assert len(await run.read(name)) == artifact.size
        with pytest.raises(tailback.NotFound):
            await run.read("../../tailback.sqlite")
        curve = await client.run(small, over=["traffic.load=0.1,0.2"])
        assert [child.id for child in await curve.children()] == [f"{curve.id}.1", f"{curve.id}.2"]
