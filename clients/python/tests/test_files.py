"""Files that scenarios name."""

import hashlib
import io
import json
import os
import subprocess
import threading
from pathlib import Path

import pytest

import tailback

PAIR = """num_ranks 2
rank 0 {
l1: send 64b to 1 tag 1
}
rank 1 {
l1: recv 64b from 0 tag 1
}
"""
LIST = "time,source,destination,flits\n0,0,1,8\n50,1,0,4\n"
PROGRAMS = """
[clock]
flit = "64 B"
cycle = "1 ns"

[[program]]
goal = "traces/pair.goal"
nodes = [3, 40]

[[program]]
messages = { file = "list.csv" }
nodes = [7, 50]
map.file = "map.txt"
"""


@pytest.fixture
def scenario(tmp_path: Path, small: str) -> Path:
    """A scenario with its files beside it."""
    folder = tmp_path / "jobs"
    (folder / "traces").mkdir(parents=True)
    (folder / "traces/pair.goal").write_text(PAIR)
    (folder / "list.csv").write_text(LIST)
    (folder / "map.txt").write_text("50\n7\n")
    (folder / "programs.toml").write_text(small + PROGRAMS)
    return folder / "programs.toml"


def digest_here(scenario: Path) -> str:
    """What the command line finds."""
    command = [os.environ.get("TAILBACK", "tailback"), "run", scenario, "--quiet", "--format", "json"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(said.stdout)["result_digest"]


def test_files_beside_a_scenario_are_uploaded_and_the_result_is_that_of_the_command_line(client, scenario):
    run = client.run(scenario).wait()
    assert run.info.result_digest == digest_here(scenario)
    files = {file.name: file for file in client.files()}
    assert set(files) == {"pair.goal", "list.csv", "map.txt"}
    assert files["list.csv"].sha256 == hashlib.sha256(LIST.encode()).hexdigest()
    # What is there is not sent again, and can be named by its digest.
    uploaded = client.upload(scenario.parent / "list.csv", name="other")
    assert uploaded == files["list.csv"]
    text = scenario.read_text()
    digests = {"traces/pair.goal": files["pair.goal"].sha256, "list.csv": scenario.parent / "list.csv"}
    digests["map.txt"] = files["map.txt"].sha256
    assert not client.validate(text, files=digests).diagnostics
    again = client.run(text, files=digests).wait()
    assert again.info.result_digest == run.info.result_digest
    for file in files.values():
        client.delete_file(file.sha256)
    assert client.files() == []
    with pytest.raises(tailback.NotFound) as refused:
        client.run(text, files={**digests, "list.csv": files["list.csv"].sha256})
    assert refused.value.reason == "FILE_NOT_FOUND"
    with pytest.raises(tailback.InvalidScenario, match="does not say which file"):
        client.run(text)


async def test_the_same_for_asyncio(server, scenario):
    async with tailback.aio.Client(server.address) as client:
        run = await (await client.run(scenario)).wait()
        assert run.info.result_digest == digest_here(scenario)
        assert len(await client.files()) == 3
        assert not (await client.validate(scenario)).diagnostics
        for file in await client.files():
            await client.delete_file(file.sha256)
        assert await client.files() == []


def damage(server) -> None:
    """Damages all that was uploaded to a server."""
    for file in (server.folder / "data/files").iterdir():
        file.write_bytes(b"damaged")


def test_what_is_damaged_on_the_server_is_sent_again(server, client, scenario):
    found = client.run(scenario).wait().info.result_digest
    damage(server)
    assert not client.validate(scenario).diagnostics
    damage(server)
    assert client.run(scenario).wait().info.result_digest == found
    # Where a file is that is named by its digest is not known.
    damage(server)
    listed = client.upload(scenario.parent / "list.csv")
    files = {"traces/pair.goal": scenario.parent / "traces/pair.goal", "map.txt": scenario.parent / "map.txt"}
    with pytest.raises(tailback.DataLoss) as refused:
        client.run(scenario.read_text(), files={**files, "list.csv": listed.sha256})
    assert refused.value.metadata["file"] == listed.sha256
    client.upload(scenario.parent / "list.csv", again=True)
    assert client.run(scenario.read_text(), files={**files, "list.csv": listed.sha256}).wait().state == "SUCCEEDED"


async def test_what_is_damaged_is_sent_again_for_asyncio_too(server, scenario):
    async with tailback.aio.Client(server.address) as client:
        for file in ("traces/pair.goal", "list.csv", "map.txt"):
            await client.upload(scenario.parent / file)
        damage(server)
        assert not (await client.validate(scenario)).diagnostics
        damage(server)
        assert (await (await client.run(scenario)).wait()).info.result_digest == digest_here(scenario)


async def test_no_file_is_read_on_the_loop_of_asyncio(server, scenario, monkeypatch):
    loop, reading = threading.get_ident(), []

    class Read(io.FileIO):
        def read(self, *count):
            reading.append(threading.get_ident())
            return super().read(*count)

    monkeypatch.setattr(Path, "open", lambda path, mode: Read(path, mode))
    async with tailback.aio.Client(server.address) as client:
        assert (await client.upload(scenario.parent / "list.csv")).size == len(LIST)
    # Once for its digest and once to be sent, each to its end.
    assert len(reading) == 4 and loop not in reading


def test_what_is_refused_is_told(serve, tmp_path, scenario, small):
    server = serve()
    server.stop()
    (tmp_path / "limits.toml").write_text("file_bytes_max = 100\nfiles_per_owner_max = 1\n")
    server.start()
    with tailback.Client(server.address) as client:
        large = tmp_path / "large"
        large.write_bytes(bytes(5_000_000))
        with pytest.raises(tailback.LimitExceeded) as refused:
            client.upload(large)
        assert refused.value.metadata == {"limit": "file_bytes_max", "allowed": "100", "asked": "5000000"}
        with pytest.raises(tailback.LimitExceeded) as refused:
            client.run(scenario)
        assert refused.value.metadata["limit"] == "files_per_owner_max"
        file = client.files()[0]
        text = small.replace("cycles = 400", "cycles = 500000000") + PROGRAMS.split("[[program]]\nmessages")[0]
        run = client.run(text, files={"traces/pair.goal": file.sha256})
        with pytest.raises(tailback.InUse) as refused:
            client.delete_file(file.sha256)
        assert refused.value.metadata["run"] == run.id
        run.cancel()
    server.stop()
