"""What is sent for what a caller gives, without a server."""

import pytest

from tailback import documents, requests


class Number:
    """As a number of numpy's, which is none of Python's."""

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value


GIVEN = {
    "measure.links": {"every": 100, "select": "global"},
    "traffic.load": Number(0.25),
    "measure.cycles": Number(400),
    "sweep.seeds": [1, 2],
    "routing": "minimal",
    "router.vc_allocation": True,
}
SENT = [
    'measure.links={ every = 100, select = "global" }',
    "traffic.load=0.25",
    "measure.cycles=400",
    "sweep.seeds=[1, 2]",
    "routing=minimal",
    "router.vc_allocation=true",
]


def test_overrides_are_those_of_runs_on_this_machine(small):
    sent = requests.scenario(small, GIVEN)
    assert list(sent.overrides) == SENT == documents.overrides(GIVEN, {})
    assert list(requests.scenario(small, SENT).overrides) == SENT
    assert list(requests.scenario(small, "seed=3").overrides) == ["seed=3"]
    assert list(requests.scenario(small).overrides) == []


def test_what_cannot_stand_in_a_scenario_is_refused(small):
    with pytest.raises(TypeError, match="None cannot stand in a scenario"):
        requests.scenario(small, {"traffic.load": None})


def test_numbers_of_numpy_are_numbers(small):
    numpy = pytest.importorskip("numpy")
    given = {"traffic.load": numpy.float64(0.25), "seed": numpy.int64(7), "router.vc_allocation": numpy.bool_(True)}
    sent = ["traffic.load=0.25", "seed=7", "router.vc_allocation=true"]
    assert list(requests.scenario(small, given).overrides) == sent
