"""How long and how often calls are made again, by a clock that is turned by hand."""

import grpc
import pytest

import tailback
from tailback.requests import PAUSE_MAX, Retry


def broken() -> tailback.TailbackError:
    return tailback.Unavailable("connection reset", code=grpc.StatusCode.UNAVAILABLE)


def test_pauses_grow_up_to_a_bound_and_end_with_the_time(caplog):
    clock = [1000.0]
    retry = Retry(300, now=lambda: clock[0])
    pauses = []
    with pytest.raises(tailback.Unavailable):
        while True:
            pauses.append(retry.pause(broken()))
            clock[0] += pauses[-1]
    assert sum(pauses) == pytest.approx(300) and len(caplog.records) == 1
    assert 0.05 <= pauses[0] <= 0.1 and max(pauses) <= PAUSE_MAX and max(pauses[:3]) < min(pauses[7:-1])
    retry.answered()
    assert retry.pause(broken()) <= 0.1 and len(caplog.records) == 2, "what is lost next is lost anew"


def test_refusals_are_raised_at_once():
    retry = Retry(300)
    for kind, code in [
        (tailback.NotFound, grpc.StatusCode.NOT_FOUND),
        (tailback.NotAuthenticated, grpc.StatusCode.UNAUTHENTICATED),
        (tailback.InvalidRequest, grpc.StatusCode.INVALID_ARGUMENT),
        (tailback.QueueFull, grpc.StatusCode.RESOURCE_EXHAUSTED),
        (tailback.TailbackError, grpc.StatusCode.INTERNAL),
    ]:
        with pytest.raises(kind):
            retry.pause(kind("no", code=code, reason="SOME"))
    assert not retry.has_repeated


def test_a_stream_that_has_lived_long_enough_is_no_loss(caplog):
    Retry(300).pause(tailback.Unavailable("over", code=grpc.StatusCode.UNAVAILABLE, reason="STREAM_EXPIRED"))
    Retry(300).pause(tailback.TailbackError("stream removed", code=grpc.StatusCode.UNKNOWN))
    assert [record.getMessage().split(" (")[1][:14] for record in caplog.records] == ["stream removed"]
