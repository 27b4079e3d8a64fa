"""A server on a port of the system's choice: the program is named by the environment's TAILBACK."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import tailback

SMALL = """title = "A small dragonfly"
routing = "minimal"

[topology.dragonfly]
p = 2
a = 4
h = 2
g = 9

[[traffic]]
load = 0.3

[measure]
warmup = 100
cycles = 400
"""


def pytest_sessionfinish(session: pytest.Session) -> None:
    """What is skipped is a failure where all is to be checked, as in the tests of the program."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("TAILBACK_CHECKS", "").startswith("all") and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


class Server:
    """A server that can be killed and started again in the same folder, on the same port."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder, self.arguments, self.address = folder, arguments, "127.0.0.1:0"
        (folder / "limits.toml").write_text("sample_interval_ms = 20\ncheckpoint_interval_ms = 50\n")
        self.start()

    def start(self) -> None:
        program = os.environ.get("TAILBACK", "tailback")
        command = [program, "serve", "--listen", self.address, "--data", "data", "--limits", "limits.toml"]
        self.process = subprocess.Popen(
            [*command, *self.arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        line = self.process.stdout.readline()
        self.address = line.strip().removeprefix("listening on http://")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self) -> None:
        self.process.terminate()
        assert self.process.wait() == 0
        self.process.stdout.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    servers = []

    def start(*arguments: str) -> Server:
        servers.append(Server(tmp_path, *arguments))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.stop()


@pytest.fixture
def server(serve: Callable[..., Server]) -> Server:
    return serve()


@pytest.fixture
def client(server: Server) -> Iterator[tailback.Client]:
    with tailback.Client(server.address) as client:
        yield client


@pytest.fixture
def endless() -> str:
    return SMALL.replace("cycles = 400", "cycles = 500000000")


@pytest.fixture
def small() -> str:
    return SMALL
