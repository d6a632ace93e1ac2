"""Comparing: two runs on what both held out, and a run with its edits on the validation set."""

import pytest
from starlette.testclient import TestClient

from protgnn.web.app import make_app
from protgnn.web.explorer import Explorer
from protgnn.web.guard import AccessRules
from tests.web.conftest import HEADERS, HOST


@pytest.fixture(scope="module")
def two(mined_run, other_run) -> Explorer:
    return Explorer.open(mined_run, other_run)


@pytest.fixture
def visitor_of_two(two) -> TestClient:
    app = make_app(two, AccessRules(frozenset({HOST}), "protgnn-8765"))
    client = TestClient(app, base_url=f"http://{HOST}", headers=HEADERS)
    client.get("/")
    return client


def test_two_runs_are_compared_as_the_command_line_does(visitor_of_two, mined_run, other_run, protgnn_command):
    import json

    told = json.loads(protgnn_command("compare", mined_run, other_run, "--json").out)
    found = visitor_of_two.get("/api/compare").json()
    assert found["n"] == told["n"] == 9 and found["disagreements"]
    assert found["disagreement_count"] == len(told["disagreements"])
    accuracy = next(one for one in found["scores"] if one["name"] == "accuracy")
    assert [accuracy["first"], accuracy["second"]] == [scores["accuracy"] for scores in told["scores"]]
    assert len(found["prototypes"]) == len(told["prototypes"])


def test_either_run_answers_for_itself(visitor_of_two):
    answers = [
        visitor_of_two.post("/api/ask", json={"text": "CCO", "of": of}).json()["logits"] for of in ("first", "second")
    ]
    assert answers[0] != answers[1]
    sheets = [len(visitor_of_two.get(f"/api/prototypes?of={of}").json()["prototypes"]) for of in ("first", "second")]
    assert sheets[1] == 6 and sheets[0] != 0


def test_edits_are_compared_with_the_run_on_the_validation_part(client):
    assert client.get("/api/compare").status_code == 404, "nothing was edited yet"
    done = client.post("/api/edits", json={"action": "remove", "prototype": 0}).json()
    found = client.get("/api/compare").json()
    assert found["part"] == "validation part" and found["of"] == ["original", "first"]
    accuracy = next(one for one in found["scores"] if one["name"] == "accuracy")
    assert [accuracy["first"], accuracy["second"]] == pytest.approx([done["before"], done["after"]])
    assert sum(pair["second"] is None for pair in found["prototypes"]) == 1
