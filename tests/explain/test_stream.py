"""Tables of any length go through a model in chunks: the same rows by any number of processes, and after any kill."""

import csv
import gzip
import io
import json
import os
import signal
from pathlib import Path

import pytest

from protgnn.datasets.new_input import conform
from protgnn.datasets.readers import open_table
from protgnn.datasets.readers.options import ReadOptions
from protgnn.errors import DataError, ProtGNNError
from protgnn.explain.explanation import RunContext, explain
from protgnn.explain.stream import TableStream
from protgnn.featurizers.molecule import from_smiles
from protgnn.io import text_stream
from protgnn.io.row_formats import RowFormat
from protgnn.training.run import load_model

SMILES = [
    *("CCO", "CCN", "c1ccccc1", "CC(=O)O", "nonsense", "CCCC", "C1CCCCC1", "", "OCC(O)CO", "CC[Xe]", "CCBr", "CO")
]


@pytest.fixture(scope="module")
def opened(prototype_run):
    return load_model(prototype_run), prototype_run


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "mols.csv"
    rows = [f"{number},{text}" for number, text in enumerate(SMILES * 3)]
    path.write_text("\n".join(["id,smiles", *rows[:7], "", *rows[7:20], "20,CCO,too many", *rows[21:]]) + "\n")
    return path


def stream(opened, path, task="predict", skip_bad=True, keep=("id",)):
    (model, run), folder = opened
    return TableStream(model, run, folder, path, ReadOptions(skip_bad=skip_bad), task, keep)


def written(opened, path, out, chunk=4096, workers=1, **options):
    said = []
    stream(opened, path, **options).run(out, workers=workers, say=said.append, chunk=chunk)
    assert sorted(one.name for one in out.parent.iterdir() if "partial" in one.name) == []
    return out.read_bytes(), said


@pytest.mark.parametrize("task", ["predict", "explain"])
def test_chunks_and_processes_do_not_show_in_the_output(opened, table, tmp_path, task):
    whole, said = written(opened, table, tmp_path / "whole.csv", task=task)
    for chunk, workers in ((5, 1), (1, 1), (7, 2)):
        pieces, also = written(opened, table, tmp_path / "pieces.csv", chunk, workers, task=task)
        assert_same(pieces, whole)
        assert also == said


def test_every_row_of_the_input_has_its_row_in_order(opened, table, tmp_path):
    written(opened, table, tmp_path / "out.csv", 5)
    rows = list(csv.DictReader((tmp_path / "out.csv").open()))
    assert [int(row["row"]) for row in rows] == list(range(36))
    assert [row["id"] for row in rows] == ["" if number == 20 else str(number) for number in range(36)]
    assert [int(row["line"]) for row in rows] == [*range(2, 9), *range(10, 39)]
    good = [text not in ("nonsense", "") for text in SMILES * 3]
    good[20] = False
    assert [bool(row["predicted"]) for row in rows] == good == [not row["error"] for row in rows]
    assert "expected 2 cells" in rows[20]["error"] and "missing" in rows[7]["error"]


def test_what_was_found_on_the_way_is_said_at_the_end(opened, table, tmp_path):
    _, said = written(opened, table, tmp_path / "out.csv", 5)
    assert "Skipped 7 of 36 rows of mols.csv that cannot be used (lines 6, 10, 19, 22, 23, …)" in said[0]
    assert said[-1].startswith(
        "6 of 29 contain elements that no training molecule contains: lines 3, 12, 16, 24, 28, …"
    )


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet"])
def test_every_format_has_the_same_rows(opened, table, tmp_path, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    expected = list(csv.DictReader(io.StringIO(written(opened, table, tmp_path / "plain.csv")[0].decode())))
    content, _ = written(opened, table, tmp_path / f"out{ending}", 5)
    assert_same_rows(_rows(content, ending), expected)


def assert_same(content, expected):
    """The same CSV; how graphs are batched shows in the last digits of numbers, and nowhere else."""
    assert_same_rows(*(list(csv.DictReader(io.StringIO(one.decode()))) for one in (content, expected)))


def assert_same_rows(rows, expected):
    assert len(rows) == len(expected) and list(rows[0]) == list(expected[0])
    for row, other in zip(rows, expected, strict=True):
        for name, cell in row.items():
            if name.startswith("p(") or name in ("similarity", "weight", "contribution"):
                assert float(cell or 0) == pytest.approx(float(other[name] or 0), abs=3e-6) and bool(cell) == bool(
                    other[name]
                )
            else:
                assert cell == other[name], name


def _rows(content, ending):
    if ending == ".parquet":
        from pyarrow import parquet

        found = parquet.read_table(io.BytesIO(content)).to_pylist()
    else:
        text = (gzip.decompress(content) if ending.endswith(".gz") else content).decode()
        if ".csv" in ending:
            return list(csv.DictReader(io.StringIO(text)))
        found = [json.loads(line) for line in text.splitlines()]
    return [{name: "" if cell is None else str(cell) for name, cell in row.items()} for row in found]


def test_a_file_that_is_streamed_gives_what_one_that_is_read_gives(opened, table, tmp_path, monkeypatch):
    packed = tmp_path / "mols.csv.gz"
    packed.write_bytes(gzip.compress(table.read_bytes()))
    lines = tmp_path / "mols.smi"
    lines.write_text("\n".join(f"{text} m{number}" for number, text in enumerate(SMILES) if text) + "\n")
    read = [
        written(opened, table, tmp_path / "a.csv")[0],
        written(opened, lines, tmp_path / "a.csv", keep=())[0],
    ]
    monkeypatch.setattr(text_stream, "STREAMED_FROM", 0)
    assert open_table.stream_table(table).share_read is not None
    for source in (table, packed):
        assert_same(written(opened, source, tmp_path / "b.csv", 5)[0], read[0])
    assert_same(written(opened, lines, tmp_path / "b.csv", 5, keep=())[0], read[1])


def test_a_parquet_file_is_a_table(opened, table, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"id": list(range(12)), "smiles": [text or None for text in SMILES], "vector": [[1.0]] * 12}
    parquet.write_table(pyarrow.table(columns), tmp_path / "mols.parquet")
    written(opened, tmp_path / "mols.parquet", tmp_path / "out.csv", 5)
    rows = list(csv.DictReader((tmp_path / "out.csv").open()))
    assert [row["id"] for row in rows] == [str(number) for number in range(12)] == [row["row"] for row in rows]
    assert [bool(row["error"]) for row in rows] == [text in ("nonsense", "") for text in SMILES]
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(DataError, match="no Parquet file"):
        stream(opened, tmp_path / "bad.parquet")


def killed(opened, path, out, fsyncs, **options):
    """Write in a process that is killed when it makes sure of rows for the so-manieth time."""
    process = os.fork()
    if not process:
        real, count = os.fsync, [0]

        def fsync(handle):
            count[0] += 1
            if count[0] == fsyncs:
                os.kill(os.getpid(), signal.SIGKILL)
            real(handle)

        os.fsync = fsync
        try:
            stream(opened, path, **options).run(out, chunk=5)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(process, 0)[1])


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize("fsyncs", [1, 2, 5, 9])
def test_killed_at_any_moment_the_same_call_goes_on(opened, table, tmp_path, fsyncs, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    expected = _rows(written(opened, table, tmp_path / f"whole{ending}")[0], ending)
    out = tmp_path / f"out{ending}"
    assert killed(opened, table, out, fsyncs) and not out.exists()
    content, said = written(opened, table, out, 7)
    assert_same_rows(_rows(content, ending), expected)
    assert (f"going on after {5 * (fsyncs // 3)} rows" in said[0]) == (fsyncs > 2)


def test_a_partial_output_of_something_else_is_begun_anew(opened, table, tmp_path):
    out, partial = tmp_path / "out.csv", tmp_path / "out.csv.partial"
    expected, _ = written(opened, table, tmp_path / "whole.csv")
    assert killed(opened, table, out, 9) and partial.stat().st_size
    other = tmp_path / "other.csv"
    other.write_text(table.read_text().replace("CCBr", "CCCl"))
    _, said = written(opened, other, out)
    assert "starting over" in said[0] and "CCCl" in out.read_text()
    assert killed(opened, table, out, 9, keep=())
    _, said = written(opened, table, out)
    assert "starting over" in said[0]
    assert_same(out.read_bytes(), expected)
    assert killed(opened, table, out, 9)
    (tmp_path / "out.csv.partial.json").write_text("{}")
    assert "starting over" in written(opened, table, out)[1][0]
    assert_same(out.read_bytes(), expected)


def test_rows_that_were_not_sure_are_written_again(opened, table, tmp_path):
    out = tmp_path / "out.csv"
    expected, _ = written(opened, table, tmp_path / "whole.csv")
    assert killed(opened, table, out, 9)
    with (tmp_path / "out.csv.partial").open("ab") as file:
        file.write(b"9999,half a row")
    assert_same(written(opened, table, out)[0], expected)


def test_two_processes_do_not_write_one_file(opened, table, tmp_path):
    from protgnn.io.partial_output import PartialOutput

    first = PartialOutput(tmp_path / "out.csv", "key")
    with pytest.raises(ProtGNNError, match="another process"):
        stream(opened, table).run(tmp_path / "out.csv")
    first.discard()
    written(opened, table, tmp_path / "out.csv")


def test_a_link_in_the_place_of_the_partial_file_is_not_followed(opened, table, tmp_path):
    own = tmp_path / "own.txt"
    own.write_text("not to be touched")
    (tmp_path / "out.csv.partial").symlink_to(own)
    with pytest.raises(ProtGNNError, match="Cannot write"):
        stream(opened, table).run(tmp_path / "out.csv")
    assert own.read_text() == "not to be touched"


def test_without_skip_bad_all_bad_rows_are_named_and_nothing_is_written(opened, table, tmp_path):
    with pytest.raises(DataError) as refused:
        stream(opened, table, skip_bad=False).run(tmp_path / "out.csv", chunk=5)
    assert "7 rows of" in str(refused.value) and "line 6: RDKit cannot read" in str(refused.value)
    assert "line 34" in str(refused.value) and [path.name for path in tmp_path.iterdir()] == ["mols.csv"]


def test_a_table_without_any_good_row_is_refused(opened, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("smiles\n" + "nonsense\n" * 12)
    with pytest.raises(DataError, match="none of its 12 rows can be used"):
        stream(opened, path, keep=()).run(tmp_path / "out.csv", chunk=5)
    assert [one.name for one in tmp_path.iterdir()] == ["bad.csv"]


def test_cells_that_a_spreadsheet_would_run_are_defused(opened, tmp_path):
    path = tmp_path / "mols.csv"
    path.write_text('id,smiles\n"=1+1",CCO\n@x,"=cmd()"\n')
    written(opened, path, tmp_path / "out.csv")
    rows = list(csv.DictReader((tmp_path / "out.csv").open()))
    assert [row["id"] for row in rows] == ["'=1+1", "'@x"]
    lines = written(opened, path, tmp_path / "out.jsonl")[0].decode().splitlines()
    assert json.loads(lines[0])["id"] == "=1+1"


def test_explanations_of_all_rows_are_those_of_each(opened, table, tmp_path):
    (model, run), _ = opened
    content, _ = written(opened, table, tmp_path / "why.jsonl", 5, task="explain")
    lines = [json.loads(line) for line in content.decode().splitlines()]
    assert len(lines) == 36 and lines[4]["error"] and lines[4]["rows"] is None
    (why,) = explain(model, conform(from_smiles(["CCO"]), run.schema), RunContext.of(run))
    assert lines[0]["predicted"] == why.to_json()["predicted"] and len(lines[0]["rows"]) == len(why.rows)
    content, _ = written(opened, table, tmp_path / "why.csv", 5, task="explain")
    rows = [row for row in csv.DictReader(io.StringIO(content.decode())) if row["row"] == "0"]
    assert len([row for row in rows if row["prototype"]]) == len(why.rows)
    assert len(rows) > len(why.rows), "what is added beside prototypes has rows of its own"
    total = sum(float(row["contribution"]) for row in rows)
    assert total == pytest.approx(why.logits[why.predicted], abs=1e-4)


def test_the_command_explains_all_rows(protgnn_command, prototype_run, run_folder, table, tmp_path):
    ended = protgnn_command("explain", prototype_run, table, "--skip-bad", "-o", tmp_path / "why.csv")
    assert ended.status == 0 and "explanations of 29 rows" in ended.err
    assert "leave --row" in protgnn_command("explain", prototype_run, table, "--row", 1, "-o", tmp_path / "x.csv").err
    assert "is not a table" in protgnn_command("explain", prototype_run, "CCO", "-o", tmp_path / "x.csv").err
    assert "no prototypes" in protgnn_command("explain", run_folder, table, "-o", tmp_path / "x.csv").err


def test_the_command_takes_workers_and_prints_what_it_would_write(protgnn_command, prototype_run, table, tmp_path):
    arguments = ("predict", prototype_run, table, "--skip-bad", "--keep", "id")
    printed = protgnn_command(*arguments, "--workers", 2)
    protgnn_command(*arguments, "-o", tmp_path / "out.csv")
    assert printed.status == 0 and printed.out == (tmp_path / "out.csv").read_text()


def test_a_column_that_is_kept_twice_is_refused(opened, table):
    with pytest.raises(ProtGNNError, match="names the column 'id' twice"):
        stream(opened, table, keep=("id", "id"))


@pytest.mark.parametrize("name", ["out.xlsx", "out.pdf", "out.json.gz"])
def test_a_name_that_asks_for_another_format_is_refused(name):
    with pytest.raises(ProtGNNError, match=r"ends in \.csv"):
        RowFormat.of(Path(name))


@pytest.mark.parametrize("name", ["out", "out.csv", "out.csv.gz", "out.jsonl", "out.jsonl.gz"])
def test_names_of_formats_that_are_written_are_taken(name):
    found = RowFormat.of(Path(name))
    assert found.packed == name.endswith(".gz") and (found.name == "jsonl") == (".jsonl" in name)
