"""Class names, graph names and notes with terminal codes are printed as text by every command."""

import json

import pytest

NAME, CLASS = "\x1b[2Jmolecule", "low\x1b[31m"


@pytest.fixture(scope="module")
def graphs_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "graphs.jsonl"
    lines = []
    for number in range(40):
        graph = {
            "num_nodes": 3,
            "edges": [[0, 1], [1, 2]],
            "x": [[number % 2, 1.0]] * 3,
            "y": (CLASS, "high")[number % 2],
            "name": f"{NAME} {number}",
        }
        lines.append(json.dumps(graph))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_no_command_sends_codes_from_a_file_to_the_terminal(protgnn_command, graphs_file, tmp_path):
    run = tmp_path / "run"
    few = ["epochs=2", "hidden=8", "prototypes=1", "anchored_epochs=1", "search_iterations=2", "refine_steps=2"]
    settings = [part for setting in few for part in ("--set", setting)]
    (tmp_path / "bad.jsonl").write_text('{"x": [[1.0, 1.0]], "edges": [], "name": "\\u001b[2Jbad", "y": "\\u001bz"}\n')
    for status, expected, *arguments in (
        (0, r"low\x1b[31m 20", "data", "show", graphs_file),
        (0, r"low\x1b[31m", "train", graphs_file, "--out", run, *settings),
        (0, r"low\x1b[31m", "evaluate", run),
        (0, r"low\x1b[31m", "prototypes", run),
        (0, r"\x1b[2Jmolecule 3: ", "explain", run, graphs_file, "--row", 3),
        (1, r"\x1b", "evaluate", run, tmp_path / "bad.jsonl"),
    ):
        ended = protgnn_command(*arguments)
        assert ended.status == status, ended.err
        assert "\x1b" not in ended.out + ended.err and expected in ended.out + ended.err, arguments


def test_a_csv_is_exact_for_programs_and_spelled_out_on_a_terminal(capsys, monkeypatch):
    import sys

    from protgnn.cli.console import print_csv

    print_csv("name\n\x1b[2Jx\n")
    assert capsys.readouterr().out == "name\n\x1b[2Jx\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_csv("name\n\x1b[2Jx\n")
    assert capsys.readouterr().out == "name\n\\x1b[2Jx\n"
