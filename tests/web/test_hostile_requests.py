"""Hostile and malformed requests: each is refused in a sentence, none ends in a failure."""

import pytest

from benchmarks.hostile_requests import hostile_requests


def test_no_request_ends_in_a_failure(client):
    statuses = set()
    for request in hostile_requests(200, seed=0):
        response = client.request(request.method, request.path, content=request.body, headers=request.headers)
        assert response.status_code < 500, request
        assert "Traceback" not in response.text and "/protgnn/" not in response.text, request
        statuses.add(response.status_code)
    assert {400, 404, 405, 413} <= statuses, "the requests are not hostile enough"


@pytest.mark.parametrize("body", [b"[" * 15_000, b'{"text":' * 1_500, b'"\\ud800"', b'{"text":"\\ud800"}', b"nan", b""])
def test_json_that_is_built_to_break_readers_is_refused(client, body):
    assert client.post("/api/ask", content=body).status_code == 400


def test_markup_in_a_text_comes_back_as_text(client):
    response = client.post("/api/ask", json={"text": "<script>alert(1)</script>"})
    assert "<script>" in response.json()["problem"] and response.headers["content-type"] == "application/json"
