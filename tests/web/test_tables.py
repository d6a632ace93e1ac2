"""Tables: a file comes in, predictions and explanations go out, and nobody sees what another has uploaded."""

import csv
import io
import tempfile
from pathlib import Path

import pytest

from protgnn.explain.predictions import WITHOUT_EVIDENCE
from protgnn.web.server_limits import ServerLimits


def send(client, content: bytes | str, name: str = "mine.csv"):
    return client.post("/api/uploads", content=content, headers={"x-file-name": name})


@pytest.fixture(scope="module")
def table(molecules_csv) -> str:
    return molecules_csv.read_text()


def test_an_uploaded_table_is_predicted_row_by_row(client, table):
    key = send(client, table).json()["key"]
    rows = client.get(f"/api/rows?rows={key}").json()
    assert len(rows["rows"]) == 90 and rows["title"] == "mine.csv"
    assert [row["row"] for row in rows["rows"]] == list(range(90))
    assert all(row["truth"] is not None for row in rows["rows"]), "the labels of the file are used"


def test_rows_that_cannot_be_read_are_counted_and_named(client):
    key = send(client, "smiles\nCCO\nnonsense\nc1ccccc1\n").json()["key"]
    rows = client.get(f"/api/rows?rows={key}").json()
    assert len(rows["rows"]) == 2 and rows["skipped_count"] == 1 and rows["skipped"][0]["line"] == 3


@pytest.mark.parametrize(
    "content", ["", "\n\n", "name,age\nAnn,3\n", "smiles\nnonsense\n", "\x00\x01\x02", b"\xff\xfe\xff"]
)
def test_a_file_that_is_no_table_is_refused_without_naming_a_folder(client, content):
    response = send(client, content)
    assert response.status_code == 400, response.text
    assert tempfile.gettempdir() not in response.json()["error"] and "mine.csv" in response.json()["error"]


def test_too_many_rows_and_too_large_a_file_are_refused(client):
    most = ServerLimits()
    assert send(client, "smiles\n" + "CCO\n" * (most.rows + 5)).status_code == 400
    assert send(client, b"x" * (most.upload_bytes + 1)).status_code == 413


def test_nobody_sees_what_another_has_uploaded(visitor, table):
    owner, other = visitor(), visitor()
    key = send(owner, table).json()["key"]
    assert owner.get(f"/api/rows?rows={key}").status_code == 200
    for address in (f"/api/rows?rows={key}", f"/api/rows.csv?rows={key}", f"/api/map?rows={key}"):
        assert other.get(address).status_code == 404
    assert other.get("/api/run").json()["uploads"] == []


def test_nothing_of_an_upload_stays_on_the_disk(client, table, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert send(client, table, "../../elsewhere.csv").status_code == 200
    assert list(tmp_path.rglob("*")) == []


def test_the_csv_has_the_predictions_and_why(client):
    found = list(csv.DictReader(io.StringIO(client.get("/api/rows.csv").text)))
    rows = client.get("/api/rows").json()["rows"]
    assert len(found) == len(rows)
    for line, row in zip(found, rows, strict=True):
        assert line["prototype"] == ("" if row["prototype"] is None else str(row["prototype"]))
        for name in ("similarity", "contribution"):
            assert (float(line[name]) if line[name] else None) == pytest.approx(row[name], abs=1e-5)
        assert line["why"].startswith(line["predicted"])
        assert bool(line["evidence looks like"]) == bool(line["evidence"]) == (row["prototype"] is not None)
    assert any(row["prototype"] is not None for row in rows)


def test_the_workbook_has_the_same_rows_and_a_picture_in_each(client):
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(client.get("/api/rows.xlsx").content))
    sheet = book.active
    rows = client.get("/api/rows").json()["rows"]
    names = [cell.value for cell in sheet[1]]
    assert sheet.max_row == len(rows) + 1 and len(sheet._images) == len(rows)
    predicted = [sheet.cell(number, names.index("prototype") + 1).value for number in range(2, sheet.max_row + 1)]
    assert predicted == [row["prototype"] for row in rows]


def test_where_no_prototype_adds_to_the_class_none_is_named_or_marked(base_visitor):
    import openpyxl

    rows = base_visitor.get("/api/rows").json()["rows"]
    number = next(row["row"] for row in rows if row["prototype"] is None)
    assert rows[number]["similarity"] is None and rows[number]["contribution"] is None
    assert any(row["prototype"] is not None for row in rows)
    line = list(csv.DictReader(io.StringIO(base_visitor.get("/api/rows.csv").text)))[number]
    assert line["looks like"] == WITHOUT_EVIDENCE and "Most in favour: the base" in line["why"]
    for name in ("prototype", "similarity", "evidence", "contribution", "evidence looks like"):
        assert line[name] == "", name
    sheet = openpyxl.load_workbook(io.BytesIO(base_visitor.get("/api/rows.xlsx").content)).active
    cells = dict(zip((cell.value for cell in sheet[1]), (cell.value for cell in sheet[number + 2]), strict=True))
    assert cells["looks like"] == WITHOUT_EVIDENCE and cells["prototype"] is cells["similarity"] is None
    assert len(sheet._images) == len(rows)
    found = base_visitor.post(
        "/api/pictures", json={"rows": "held-out", "numbers": [row["row"] for row in rows]}
    ).json()
    for row in rows:
        drawn = found["pictures"][str(row["row"])]
        assert ("<path" in drawn or "<circle" in drawn) == (row["prototype"] is not None), "what is marked"
    cards = base_visitor.get("/api/prototypes").json()["prototypes"]
    assert sum(card["wins"] for card in cards) == sum(row["prototype"] is not None for row in rows)


def test_no_cell_is_run_by_a_spreadsheet():
    import openpyxl

    from protgnn.web.export import as_csv, as_workbook

    rows = [{"name": '=HYPERLINK("x")', "why": "\x07@SUM(1)", "similarity": -1.5}]
    sheet = openpyxl.load_workbook(io.BytesIO(as_workbook(rows, [], "a/b*c"))).active
    assert [cell.data_type for cell in sheet[2]][1:] == ["s", "s", "n"]
    assert "'=HYPERLINK" in as_csv(rows).decode()


def test_pictures_are_drawn_for_the_rows_that_are_asked_for(client):
    found = client.post("/api/pictures", json={"rows": "held-out", "numbers": [2, 0]}).json()
    assert set(found["pictures"]) == {"2", "0"} and all("<svg" in one for one in found["pictures"].values())
    too_many = {"rows": "held-out", "numbers": list(range(61))}
    assert client.post("/api/pictures", json=too_many).status_code == 400


def test_the_oldest_uploads_are_forgotten_first(client):
    keys = [send(client, f"smiles\n{'C' * length}\n").json()["key"] for length in range(1, 7)]
    kept = [one["key"] for one in client.get("/api/run").json()["uploads"]]
    assert kept == keys[-ServerLimits().uploads :]


def test_files_of_the_page_are_served_and_no_others(client):
    assert client.get("/static/main.js").status_code == 200
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/", "/etc/passwd"):
        assert client.get(path).status_code in (404, 405)
    assert not (Path(__file__).parent / "upload.csv").exists()
