"""Runs on this machine, by the program that the environment's TAILBACK names."""

import os
import signal
import subprocess
import sys
import tempfile
import threading

import pytest

import tailback
from tailback import documents, program

tomllib = pytest.importorskip("tomllib")  # of Python 3.11

TABLES = {
    "routing": "minimal",
    "topology": {"dragonfly": {"p": 2, "a": 4, "h": 2, "g": 9}},
    "traffic": [{"load": 0.3}],
    "measure": {"warmup": 100, "cycles": 400, "trees": {"every": 100}},
}


def test_a_file_a_text_and_a_dictionary_are_the_same(small, tmp_path):
    (tmp_path / "small.toml").write_text(small)
    tables = tomllib.loads(small)
    digests = {
        tailback.run(source, traffic__load=0.2, threads=1).report["result_digest"]
        for source in (tmp_path / "small.toml", str(tmp_path / "small.toml"), small, tables)
    }
    assert len(digests) == 1
    one, other = (tailback.check(small, given)["scenario_digest"] for given in ({"seed": 3}, "seed=3"))
    assert one == other
    assert tailback.run(small, {"traffic.load": 0.2}, seed=2).report["result_digest"] not in digests


def test_tables_are_frames(tmp_path):
    run = tailback.run(TABLES, measure__series=100, measure__links={"every": 100, "select": "global"}, out=tmp_path / "out")
    assert run.tables == ["histograms", "links", "series", "trees"] and run.to_pandas() is run.series
    assert str(run.series["cycle"].dtype) == "Int64" and run.series["cycle"].tolist() == [0, 100, 200, 300, 400]
    assert len(run.links) == 72 * 5 and run.links["utilisation"].isna().any()
    assert "root" in run.trees.columns and (run.histograms["count"] > 0).all()
    with pytest.raises(tailback.NoResults, match="there is no table `messages`, only histograms, links, series, trees"):
        run.messages
    assert "<td>traffic</td>" in run._repr_html_() and "offered_load 0.3" in repr(run)
    # What is to be kept is kept.
    del run
    assert (tmp_path / "out/trees.csv").is_file()


def test_tables_are_there_for_pyarrow():
    pytest.importorskip("pyarrow")
    assert tailback.run(TABLES).arrow("histograms").column_names[0] == "flow"


def test_what_is_not_to_be_kept_is_not(tmp_path):
    run = tailback.run(TABLES)
    folder = run.folder
    assert run.save(tmp_path / "kept") == tmp_path / "kept" and (tmp_path / "kept/report.json").is_file()
    del run
    assert not folder.exists()


def test_a_sweep_is_a_table(small, tmp_path):
    heard = []
    over = {"traffic.load": [0.1, 0.2], "routing": ["minimal", "valiant"]}
    more = {"seeds": 2, "run_saturated": True, "out": tmp_path / "out"}
    found = tailback.sweep(small, over, jobs=2, progress=lambda *at: heard.append(at), **more)
    assert [(row["traffic.load"], row["routing"]) for row in found.rows] == [
        (load, routing) for load in (0.1, 0.2) for routing in ("minimal", "valiant")
    ]
    frame = found.to_pandas()
    assert len(frame) == 4 and frame["accepted_load"].iloc[0] == pytest.approx(0.1, abs=0.05)
    assert found.axes == ["traffic.load", "routing"] and "valiant" in found._repr_html_() and "4 points" in repr(found)
    assert heard == sorted(heard)
    # What is there is not made again.
    again = tailback.sweep(small, ["traffic.load=0.1,0.2", "routing=minimal,valiant"], **more)
    assert again.rows == found.rows


def test_checking_and_mistakes(small):
    checked = tailback.check(small)
    assert checked["nodes"] == 72 and tailback.check(checked["resolved"])["scenario_digest"] == checked["scenario_digest"]
    with pytest.raises(tailback.InvalidScenario) as raised:
        tailback.run(small.replace("g = 9", "gg = 9"))
    (unknown,) = [found for found in raised.value.violations if "gg" in found.description]
    assert unknown.field == "scenario scenario.toml:8:1"
    with pytest.raises(tailback.InvalidScenario):
        tailback.sweep(small, traffic__laod=1, over=["seed=1,2"])
    with pytest.raises(tailback.InvalidRequest, match="cannot read nowhere.toml"):
        tailback.check("nowhere.toml")
    with pytest.raises(TypeError, match="cannot stand in a scenario"):
        tailback.check(small, traffic__load=object())


def test_what_a_text_names_is_found(small, tmp_path):
    (tmp_path / "list.csv").write_text("time,source,destination,flits\n0,0,1,8\n")
    program_of = '[[program]]\nname = "list"\nmessages = "list.csv"\nnodes = [5, 50]\n'
    (tmp_path / "small.toml").write_text(small + program_of)
    beside = tailback.run(tmp_path / "small.toml").report
    given = tailback.run(small + program_of, files={"list.csv": tmp_path / "list.csv"}).report
    assert beside["result_digest"] == given["result_digest"] and given["programs"][0]["completed"]


def test_links_to_files_stay_inside_the_temporary_folder(small, tmp_path, monkeypatch):
    for folder in ("jobs", "traces", "temporary"):
        (tmp_path / folder).mkdir()
    listed, other = tmp_path / "traces/list.csv", tmp_path / "other.csv"
    for file in (listed, other):
        file.write_text("time,source,destination,flits\n0,0,1,8\n")
    names = ["../traces/list.csv", "here/../../../up.csv", "list.csv", str(listed)]
    programs = [f'[[program]]\nmessages = "{name}"\nnodes = [{2 * at}, {2 * at + 1}]\n' for at, name in enumerate(names)]
    scenario = tmp_path / "jobs/small.toml"
    scenario.write_text(small + "".join(programs))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    given = {"here/../../../up.csv": other, "list.csv": listed, "./list.csv": listed}
    # What the first has left is in the way of the second.
    for _ in range(2):
        assert tailback.check(scenario, files=given)["nodes"] == 72
        assert os.listdir(tmp_path / "temporary") == []
    for name in (str(listed), "./list.csv"):
        with pytest.raises(tailback.InvalidRequest, match=f"`{name}` cannot stand for {other}"):
            tailback.check(scenario, files={**given, name: other})
    assert sorted(os.listdir(tmp_path)) == ["jobs", "other.csv", "temporary", "traces"]


def test_progress_is_told(endless, small):
    heard = []
    tailback.run(small, measure__cycles=20000, progress=True)
    tailback.run(small, measure__cycles=20000, progress=lambda cycle, end: heard.append((cycle, end)), threads=1)
    assert heard == sorted(heard) and all(end == 20100 for _, end in heard)

    def tire(cycle, end):
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        tailback.run(endless, progress=tire)


@pytest.fixture
def interruptible():
    # A shell that puts a command into the background may have it ignore Ctrl-C, and the run would not end.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_a_run_with_what_there_is(endless):
    def press(cycle, end):
        if cycle > 1000 and not pressed:
            pressed.append(cycle)
            # As a terminal does, to this process alone.
            threading.Timer(0.0, os.kill, (os.getpid(), signal.SIGINT)).start()

    pressed: list[int] = []
    with pytest.raises(tailback.Interrupted, match="interrupted in cycle") as raised:
        tailback.run(endless, progress=press)
    assert raised.value.report["interrupted"]["cycle"] >= pressed[0]
    assert raised.value.report["accepted_load"] == pytest.approx(0.3, abs=0.1)


def test_programs_are_found(small, tmp_path, monkeypatch):
    monkeypatch.setenv("TAILBACK", "/nowhere/tailback")
    with pytest.raises(tailback.ProgramNotFound, match="/nowhere/tailback"):
        tailback.check(small)
    monkeypatch.delenv("TAILBACK")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(program, "BUNDLED", tmp_path / "bundled")
    with pytest.raises(tailback.ProgramNotFound, match="install a wheel"):
        tailback.check(small)
    for name in ("tailback", "bundled"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
        assert program.find() == tmp_path / name
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\necho out of luck >&2\nexit 1\n")
    failing.chmod(0o755)
    with pytest.raises(tailback.RunFailed, match="out of luck"):
        tailback.run(small, program=failing)


def test_the_module_is_the_program():
    said = subprocess.run([sys.executable, "-m", "tailback", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("tailback ")


@pytest.mark.parametrize(
    "tables",
    [
        TABLES,
        {"a": {"b": [{"c": 1, "d": {"e": [1.5, -2]}}, {}]}, "text": 'a "quote"\n\u00fc\\', "flags": [True, False]},
        {"with space": {"dots.in": float("inf")}, "empty": {}, "mixed": [1, {"x": 2}], "none": []},
        {"title": "\U0001f4e6 \uffff\u2028", "\U0001f4e6": {"\x7f": "".join(map(chr, range(0xa1)))}},
    ],
)
def test_dictionaries_are_written_as_toml(tables):
    assert tomllib.loads(documents.document(tables)) == tables
    assert tomllib.loads(f"all = {documents.literal(tables)}") == {"all": tables}
