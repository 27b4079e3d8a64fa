"""The schema of scenarios, against all scenarios that people start from, and against mistakes."""

import copy
import sys
from pathlib import Path

import jsonschema
import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[3]
SCENARIOS = [
    path
    for path in sorted([*ROOT.glob("configs/**/*.toml"), *ROOT.glob("tests/scenarios/*.toml")])
    # Those of figures, tables and studies say which runs of other scenarios they need.
    if not path.name.startswith(("fig", "table")) and path.parent.name != "studies"
]


@pytest.fixture
def validator(client):
    schema = client.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_scenarios_that_people_start_from_are_accepted(validator):
    assert len(SCENARIOS) > 20
    for path in SCENARIOS:
        errors = validator.iter_errors(tomllib.loads(path.read_text()))
        assert [f"{path}: {error.json_path}: {error.message}" for error in errors] == []


def test_mistakes_are_found(validator, small):
    good = tomllib.loads(small)
    assert validator.is_valid(good)
    for section, key, value in [
        ("measure", "cycels", 3),
        ("measure", "series_by", "arrival"),
        ("router", "speedup", 1000),
        ("links", "levels", {}),
        ("topology", "fat-tree-of-cheese", {}),
        ("sweep", "variant", [{"set": {}}]),
    ]:
        bad = copy.deepcopy(good)
        bad.setdefault(section, {})[key] = value
        assert not validator.is_valid(bad), (section, key)
    for key in ["topology", "traffic"]:
        assert not validator.is_valid({name: value for name, value in good.items() if name != key})
    good["traffic"][0]["load"] = 2
    assert not validator.is_valid(good)
