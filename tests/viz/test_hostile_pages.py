"""Pages and pictures of hostile runs and hostile data in a real browser: no script runs, nothing is asked for."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from protgnn.cli.main import main
from protgnn.training.run import run_checksum
from tests.viz.browser import BROWSER, Visit

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no browser is installed: apt-get install chromium")

# Each would run, or ask for something, if it were taken for markup anywhere.
SCRIPT = "window.ran=1"
PAYLOADS = (
    f'"><script>{SCRIPT}</script>',
    f"</script></style></title></svg><script>{SCRIPT}</script>",
    f"'><img src=http://127.0.0.1:9/x onerror={SCRIPT}>",
    f'" onmouseover="{SCRIPT}" autofocus onfocus="{SCRIPT}" x="',
    f"]]><svg onload={SCRIPT}><!--",
    "{{ 7 * 7 }}{% raw %}&lt;b&gt;${7*7}$\\frac{\x1b[2J\u202e",
    "<link rel=stylesheet href=//127.0.0.1:9/x><base href=//127.0.0.1:9/><a href=javascript:window.ran=1>",
)
CLASSES = PAYLOADS[1], PAYLOADS[5]
FEW = ("epochs=2", "hidden=8", "prototypes=1", "anchored_epochs=1", "search_iterations=2", "refine_steps=2")
MODELS = {
    "learned": [],
    "sampled": ["--plus", "--set", "warm_up=2"],
    "mined": ["--plus", "--set", "evidence=mined", "--set", "warm_up=2"],
}


def done(*arguments: object) -> None:
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    assert not end.value.code, arguments


def hostile_graphs(path: Path, kind: str) -> Path:
    """Graphs whose names, classes, words and columns are hostile."""
    words = [text.replace(" ", "_") for text in PAYLOADS]
    schema = {"kind": kind, "node_features": words, "class_names": list(CLASSES), "edge_features": [PAYLOADS[2]]}
    if kind == "sentence":
        schema["featurizer"] = "sentence"
    lines = [json.dumps({"schema": schema})]
    for number in range(36):
        order = [(place + number) % 7 for place in range(3)] + [number % 2]
        graph = {
            "edges": [[0, 1], [1, 2], [2, 3]],
            "edge_attr": [[1.0]] * 3,
            "x": [[float(column == word) for column in range(7)] for word in order],
            "y": CLASSES[number % 2],
            "name": " ".join(words[word] for word in order),
        }
        lines.append(json.dumps(graph))
    path.write_text("\n".join(lines) + "\n")
    return path


def hostile_network(folder: Path) -> Path:
    """A network whose ids, classes, columns and cells are hostile."""
    folder.mkdir()

    def quoted(*cells: str) -> str:
        return ",".join('"' + cell.replace('"', '""').replace("\x1b", "") + '"' for cell in cells)

    ids = [f"{PAYLOADS[node % 7]} {node}" for node in range(40)]
    rows = [quoted(ids[node], PAYLOADS[node % 2], PAYLOADS[2 + node % 3]) for node in range(40)]
    (folder / "nodes.csv").write_text("\n".join([quoted("id", "label", "<img src onerror>"), *rows]) + "\n")
    edges = [quoted(ids[node], ids[(node + step) % 40]) for node in range(40) for step in (2, 4)]
    (folder / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    return folder


def resealed(run: Path, folder: Path) -> Path:
    """A copy of a run of molecules in which every text but the SMILES, which must be one, is hostile."""
    shutil.copytree(run, folder)
    content: dict[str, Any] = json.loads((folder / "run.json").read_text())
    del content["checksum"]
    names = content["schema"]["class_names"]
    content["schema"]["class_names"] = new = list(PAYLOADS[: len(names)])
    for part in ("train", "valid", "test"):
        scores = content["scores"][part]["per_class"]
        content["scores"][part]["per_class"] = {new[names.index(name)]: value for name, value in scores.items()}
    content["protgnn_version"], content["data"]["fingerprint"] = PAYLOADS[4], PAYLOADS[5]
    content["labels"] = new
    (folder / "run.json").write_text(json.dumps({**content, "checksum": run_checksum(content)}))
    return folder


def pages_of(run: Path, question: object, work: Path) -> list[Path]:
    """Everything that a browser can open of a run."""
    work.mkdir()
    done("report", run, *([] if question == "test" else [question]), "-o", work / "report.html")
    done("explain", run, question, "-o", work / "why.html")
    done("explain", run, question, "-o", work / "why.svg")
    return [work / name for name in ("report.html", "why.html", "why.svg")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory, prototype_run, mined_run) -> dict[str, list[Path]]:
    """The pages of every kind of run."""
    work = tmp_path_factory.mktemp("hostile")
    few = [part for setting in FEW for part in ("--set", setting)]
    found = {}
    for name, options in MODELS.items():
        for kind in ("graph", "sentence"):
            data = hostile_graphs(work / f"{PAYLOADS[1].replace('/', '')}{kind}.jsonl", kind)
            run = work / f"{name} {kind} <img src=x onerror=alert(1)>"
            done("train", data, "--out", run, *options, *few)
            found[f"{name} {kind}"] = pages_of(run, data, work / f"{name}-{kind}")
    done("figure", "tsne", work / "learned graph <img src=x onerror=alert(1)>", "-o", work / "tsne.svg")
    found["learned graph"].append(work / "tsne.svg")
    network = hostile_network(work / "network")
    done("train", network, "--out", work / "nodes", "--encoder", "gcn", *few)
    found["nodes"] = pages_of(work / "nodes", "test", work / "of-nodes")
    for name, source in {"learned": prototype_run, "mined": mined_run}.items():
        run = resealed(source, work / f"resealed-{name}")
        found[f"resealed {name}"] = pages_of(run, "CCO", work / f"of-resealed-{name}")
    return found


KINDS = (*(f"{name} {kind}" for name in MODELS for kind in ("graph", "sentence")), "nodes", "resealed learned")


@pytest.mark.parametrize("kind", [*KINDS, "resealed mined"])
def test_nothing_hostile_runs_asks_or_complains(browser_context, pages, kind):
    for path in pages[kind]:
        visit = Visit(browser_context, path.as_uri())
        dialogs: list[str] = []
        visit.page.on("dialog", lambda dialog, seen=dialogs: (seen.append(dialog.message), dialog.dismiss()))
        visit.page.mouse.move(200, 200)
        if path.suffix == ".html":
            visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")  # opens everything
        assert visit.page.evaluate("window.ran") is None, path
        assert visit.complaints == [] and visit.requests == [path.as_uri()] and dialogs == [], path
        visit.page.close()


def test_a_page_that_did_run_something_would_be_seen(browser_context, tmp_path):
    """Else the test above would be worth nothing."""
    for number, text in enumerate(PAYLOADS[:3]):
        (tmp_path / f"{number}.html").write_text(f'<title>a</title><p title="">{text}</p>')
        visit = Visit(browser_context, (tmp_path / f"{number}.html").as_uri())
        visit.page.wait_for_function("window.ran === 1", timeout=60_000)
        visit.page.close()
