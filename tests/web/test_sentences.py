"""The explorer on sentences: typed ones are parsed, rows are words, and nothing is a molecule."""

import pytest
from starlette.testclient import TestClient

from protgnn.web.app import make_app
from protgnn.web.explorer import Explorer
from protgnn.web.guard import AccessRules
from tests.web.conftest import HEADERS, HOST


@pytest.fixture(scope="module")
def reader(sentence_run) -> TestClient:
    app = make_app(Explorer.open(sentence_run), AccessRules(frozenset({HOST}), "protgnn-8765"))
    client = TestClient(app, base_url=f"http://{HOST}", headers=HEADERS)
    client.get("/")
    return client


def test_a_typed_sentence_is_parsed_and_predicted(reader, parser):
    answer = reader.post("/api/ask", json={"text": "a dull and boring film"}).json()
    assert answer["text"] == "a dull and boring film" and answer["rows"]
    for label, logit in enumerate(answer["logits"]):
        assert sum(adds[label] for adds in answer["all"]) == pytest.approx(logit, abs=1e-4)


def test_rows_have_no_small_pictures_and_the_sheet_has_the_words(reader):
    rows = reader.get("/api/rows").json()["rows"]
    found = reader.post("/api/pictures", json={"rows": "held-out", "numbers": [0]}).json()
    assert rows and found["pictures"] == {"0": None}
    cards = reader.get("/api/prototypes").json()["prototypes"]
    assert all(card["description"] and "<svg" in card["picture"] for card in cards)
    assert reader.get("/api/rows.xlsx").status_code == 200


def test_examples_are_held_out_sentences(reader):
    run = reader.get("/api/run").json()
    assert run["kind"] == "sentence" and run["examples"] and all(one["text"] for one in run["examples"])
