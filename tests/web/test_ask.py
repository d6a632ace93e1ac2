"""Asking: what the explorer answers is the model's own sum, at once, and says what an edit changed."""

import pytest

PARACETAMOL, ANILIDE = "CC(=O)Nc1ccc(O)cc1", "CC(=O)Nc1ccccc1"


def ask(client, **question):
    response = client.post("/api/ask", json=question)
    assert response.status_code == 200, response.text
    return response.json()


def test_contributions_and_the_base_add_up_to_the_logits(client):
    answer = ask(client, text=PARACETAMOL)
    for label, logit in enumerate(answer["logits"]):
        every = sum(adds[label] for adds in answer["all"]) + answer["beside"][label]
        shown = sum(row["similarity"] * row["weights"][label] for row in answer["rows"])
        assert every == pytest.approx(logit, abs=1e-4)
        assert sum(line["adds"][label] for line in answer["beside_lines"]) == pytest.approx(answer["beside"][label])
        assert shown + answer["rest"]["adds"][label] + answer["beside"][label] == pytest.approx(logit, abs=1e-4)


def test_the_answer_is_that_of_the_command_line(client, mined_run, protgnn_command):
    import json

    told = json.loads(protgnn_command("explain", mined_run, PARACETAMOL, "--json").out)
    answer, names = ask(client, text=PARACETAMOL), client.get("/api/run").json()["classes"]
    assert names[answer["predicted"]] == told["predicted"]
    assert answer["probabilities"] == pytest.approx(list(told["probabilities"].values()), abs=1e-5)
    assert answer["whole"] == "the whole molecule" and answer["scale"].startswith("0 for nothing in common, 2.6 for")
    for row in answer["rows"]:
        known = told["rows"][row["prototype"]]
        assert row["counted"] == (len(known["places"]) if known["counts_places"] else 1)


def test_every_row_has_a_picture_whose_body_is_there(client):
    answer = ask(client, text=PARACETAMOL)
    for row in answer["rows"]:
        body = row["picture"].rpartition('href="#')[2].partition('"')[0]
        assert f'id="{body}"' in answer["defs"] and 'class="evidence"' in row["picture"]
    assert answer["input"].count('class="spot"') == 11


def test_what_changed_adds_up_to_the_change_of_the_logit(client):
    changed = ask(client, text=ANILIDE, before=PARACETAMOL)["changed"]
    before, after = ask(client, text=PARACETAMOL), ask(client, text=ANILIDE)
    label = before["predicted"]
    assert changed["label"] == label
    assert changed["probability"] == pytest.approx([before["probabilities"][label], after["probabilities"][label]])
    moved = sum(new[label] - old[label] for old, new in zip(before["all"], after["all"], strict=True))
    moved += changed["beside"][1] - changed["beside"][0]
    assert changed["logit"][1] - changed["logit"][0] == pytest.approx(moved, abs=1e-4)
    for one in changed["prototypes"]:
        assert one["before"] == pytest.approx(before["all"][one["prototype"]][one["label"]], abs=1e-6)
        assert one["after"] == pytest.approx(after["all"][one["prototype"]][one["label"]], abs=1e-6)


def test_what_could_not_be_read_before_is_nothing_to_compare_with(client):
    assert ask(client, text=PARACETAMOL, before="CC(")["changed"] is None
    assert "changed" not in ask(client, text=PARACETAMOL, before=PARACETAMOL)


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "nothing was given"), ("CC(", "SMILES"), ("hello there", "SMILES")],
)
def test_what_cannot_be_read_is_answered_by_what_is_wrong(client, text, said):
    assert said in ask(client, text=text)["problem"]


def test_a_text_that_is_too_long_is_refused(client):
    assert client.post("/api/ask", json={"text": "C" * 4001}).status_code == 400


def test_a_text_is_never_the_name_of_a_file(client, molecules_csv):
    assert "SMILES" in ask(client, text=str(molecules_csv))["problem"]


@pytest.mark.parametrize(
    ("text", "atom", "left"),
    [("CCO", 2, "CC"), ("c1ccccc1O", 6, "c1ccccc1"), ("[NH3+]CC", 2, "C[NH3+]"), ("C[C@H](N)O", 2, "CCO")],
)
def test_an_atom_is_taken_out(client, text, atom, left):
    assert client.post("/api/without", json={"text": text, "atom": atom}).json() == {"text": left}


@pytest.mark.parametrize(("text", "atom"), [("C", 0), ("CCO", 3), ("CC(", 0)])
def test_an_atom_that_cannot_be_taken_out_is_refused(client, text, atom):
    assert client.post("/api/without", json={"text": text, "atom": atom}).status_code == 400


def test_a_row_of_the_table_is_asked_about_by_its_number(client):
    row = client.get("/api/rows").json()["rows"][3]
    answer = ask(client, place={"rows": "held-out", "row": 3})
    assert answer["title"] == row["name"] and answer["truth"] == row["truth"]
    assert answer["probabilities"][answer["predicted"]] == pytest.approx(row["probability"], abs=1e-5)
    assert client.post("/api/ask", json={"place": {"rows": "held-out", "row": 10_000}}).status_code == 404


def test_the_map_has_a_place_for_every_row_and_prototype(client):
    found, rows = client.get("/api/map").json(), client.get("/api/rows").json()["rows"]
    sheet = client.get("/api/prototypes").json()["prototypes"]
    assert len(found["graphs"]) == len(rows) and len(found["prototypes"]) == len(sheet)
    assert all(0 <= value <= 1 for place in found["graphs"] for value in place)
    assert [one["label"] for one in found["prototypes"]] == [card["label"] for card in sheet]
