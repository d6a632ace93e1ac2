"""Editing: a visitor's edits change the visitor's model alone, the accuracy is told, and undo takes them back."""

import io
import zipfile

import pytest

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"


def logits(client) -> list[float]:
    return client.post("/api/ask", json={"text": ASPIRIN}).json()["logits"]


def sheet(client) -> dict:
    return client.get("/api/prototypes").json()


def test_removing_is_told_with_accuracy_and_undone_exactly(client):
    before, known = logits(client), sheet(client)
    done = client.post("/api/edits", json={"action": "remove", "prototype": 0}).json()
    assert done["done"][0].startswith("removed 0") and 0 <= done["after"] <= 1
    edited = sheet(client)
    assert len(edited["prototypes"]) == len(known["prototypes"]) - 1
    assert edited["edits"]["now"] == done["after"] and edited["edits"]["original"] == done["before"]
    assert logits(client) != before and client.get("/api/run").json()["edited"]
    assert client.post("/api/undo", json={}).status_code == 200
    assert logits(client) == pytest.approx(before, abs=1e-6)
    assert sheet(client)["edits"]["history"] == [] and not client.get("/api/run").json()["edited"]


def test_the_rows_of_the_table_are_those_of_the_edited_model(client):
    client.post("/api/edits", json={"action": "remove", "prototype": 0})
    rows, answer = client.get("/api/rows").json()["rows"], None
    answer = client.post("/api/ask", json={"place": {"rows": "held-out", "row": 0}}).json()
    assert answer["probabilities"][answer["predicted"]] == pytest.approx(rows[0]["probability"], abs=1e-5)
    named = [row["prototype"] for row in rows if row["prototype"] is not None]
    assert named and all(number < len(sheet(client)["prototypes"]) for number in named)


def test_an_edit_is_not_another_visitors(visitor):
    one, other = visitor(), visitor()
    before = logits(other)
    assert one.post("/api/edits", json={"action": "remove", "prototype": 0}).status_code == 200
    assert logits(other) == before and sheet(other)["edits"]["history"] == []
    assert other.get("/api/edited.zip").status_code == 404


def test_an_edited_run_is_downloaded_and_opens(client, tmp_path):
    from protgnn.training.run import load_model

    client.post("/api/edits", json={"action": "remove", "prototype": 0})
    with zipfile.ZipFile(io.BytesIO(client.get("/api/edited.zip").content)) as archive:
        archive.extractall(tmp_path)
    _, run = load_model(tmp_path / "edited-run")
    assert len(run.prototypes.cards) == len(sheet(client)["prototypes"])


@pytest.mark.parametrize(
    "edit",
    [
        {"action": "remove"},
        {"action": "remove", "prototype": 999},
        {"action": "add"},
        {"action": "add", "part": "no such part"},
        {"action": "replace", "prototype": 0},
        {"action": "explode", "prototype": 0},
    ],
)
def test_an_edit_that_cannot_be_done_changes_nothing(client, edit):
    response = client.post("/api/edits", json=edit)
    assert response.status_code == 400 and response.json()["error"]
    assert sheet(client)["edits"]["history"] == []


def test_there_is_nothing_to_undo_at_first(client):
    assert client.post("/api/undo", json={}).status_code == 400
