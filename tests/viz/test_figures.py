"""The paper's figures come from runs and results, show what is in them, and refuse what they cannot draw."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

import protgnn
from benchmarks import cost_grid, prototype_count
from protgnn.errors import ProtGNNError
from protgnn.training.run import load_model
from protgnn.viz import figures
from protgnn.viz.theme import DARK, LIGHT

FEW = ["epochs=2", "hidden=8", "prototypes=3", "anchored_epochs=1", "search_iterations=2", "refine_steps=5"]


@pytest.fixture(scope="module")
def without_diversity(molecules_csv, tmp_path_factory):
    from protgnn.cli.main import main

    folder = tmp_path_factory.mktemp("runs") / "without"
    settings = [word for setting in [*FEW, "diversity=0"] for word in ("--set", setting)]
    with pytest.raises(SystemExit) as end:
        main(["train", str(molecules_csv), "--out", str(folder), *settings])
    assert not end.value.code
    return folder


def sweep(**changes):
    """Results as the benchmarks write them."""
    points = [
        {"data": data, "encoder": "gcn", "prototypes": m, "accuracy": [0.5 + m / 20, 0.6 + m / 20]}
        for data in ("mutag", "bbbp")
        for m in (1, 3, 10)
    ]
    return {"points": points, "runs": {}, **changes}


def costs(missing=False):
    points = [
        {"data": "bbbp", "encoder": "gin", "cluster": one, "separation": two, "accuracy": [0.8 - one + two]}
        for one in (0.0, 0.1, 0.5)
        for two in (0.0, 0.05)
    ]
    return {"points": points[:-1] if missing else points}


def texts(figure):
    """Everything that is written inside the axes."""
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_tsne_shows_every_graph_and_every_prototype_in_the_colour_of_its_class(prototype_run, molecules):
    figure = figures.tsne(prototype_run)
    _, run = load_model(prototype_run)
    drawn = [(len(group.get_offsets()), tuple(group.get_facecolor()[0][:3])) for group in figure.axes[0].collections]
    for label in range(run.schema.num_classes):
        (dots, colour), (stars, same) = drawn[2 * label : 2 * label + 2]
        assert dots == int((molecules.graphs.y == label).sum())
        assert stars == sum(card.label == label for card in run.prototypes.cards)
        hexadecimal = "#" + "".join(f"{round(255 * part):02x}" for part in colour)
        assert colour == same and hexadecimal == LIGHT.of_class(label)
    again = figures.tsne(prototype_run)
    for first, second in zip(figure.axes[0].collections, again.axes[0].collections, strict=True):
        np.testing.assert_array_equal(first.get_offsets(), second.get_offsets())


def test_tsne_draws_a_sample_of_many_graphs(prototype_run, monkeypatch):
    monkeypatch.setattr(figures, "MOST_DOTS", 40)
    shown = figures.tsne(prototype_run).axes[0]
    dots = [group for group in shown.collections if group.get_sizes()[0] < 100]
    assert sum(len(group.get_offsets()) for group in dots) == 40 and "40 graphs" in shown.get_title()


def test_cosine_writes_every_cosine_of_both_runs(prototype_run, without_diversity):
    figure = figures.cosine(prototype_run, without_diversity)
    panels = [axes for axes in figure.axes if axes.get_title()]
    assert len(panels) == 6
    for number, axes in enumerate(panels):
        model, run = load_model((prototype_run, without_diversity)[number // 3])
        own = model.head.vectors[model.head.classes == number % 3].detach()
        expected = torch.cosine_similarity(own[:, None], own[None], dim=2)
        written = [float(text.get_text()) for text in axes.texts]
        assert written == pytest.approx(expected.flatten().tolist(), abs=0.006)
        assert run.schema.class_names[number % 3] in axes.get_title()
        assert ("λ3 = 0.01" if number < 3 else "without diversity") in axes.get_title()


def test_over_m_draws_the_mean_of_each_point(tmp_path):
    axes = figures.over_m(sweep()).axes[0]
    lines = [container.lines[0] for container in axes.containers]
    assert [line.get_ydata().tolist() for line in lines] == [pytest.approx([60, 70, 105])] * 2
    assert [round(value) for value in lines[0].get_xdata()] == [1, 3, 10]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "mutag, GCN, 2 splits",
        "bbbp, GCN, 2 splits",
    ]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_grid_writes_every_accuracy_and_marks_the_best_and_the_paper(theme):
    figure = figures.grid(costs(), theme)
    assert sorted(texts(figure)) == sorted(
        f"{80 - 100 * a + 100 * b:.1f}\n±0.0" for a in (0, 0.1, 0.5) for b in (0, 0.05)
    )
    best, paper = figure.axes[0].patches
    assert (best.get_x() + 0.46, best.get_y() + 0.46) == pytest.approx((1, 0))
    assert (paper.get_x() + 0.46, paper.get_y() + 0.46) == pytest.approx((1, 1))


def test_a_sweep_that_is_not_finished_is_drawn_as_far_as_it_got():
    assert len(texts(figures.grid(costs(missing=True)))) == 5
    started = sweep()
    started["points"][0]["accuracy"] = []
    assert len(figures.over_m(started).axes[0].containers) == 2


def test_the_same_figure_gives_the_same_file(tmp_path):
    for kind in figures.FORMATS:
        first, second = (tmp_path / f"{name}.{kind}" for name in "ab")
        for path in (first, second):
            figures.save(figures.grid(costs()), path)
        assert first.read_bytes() == second.read_bytes()
    with pytest.raises(ProtGNNError, match=r"png, svg, pdf \(got figure.docx\)"):
        figures.save(figures.grid(costs()), tmp_path / "figure.docx")


def test_what_cannot_be_drawn_is_refused(run_folder, prototype_run, tmp_path):
    with pytest.raises(ProtGNNError, match="plain model"):
        figures.tsne(run_folder)
    with pytest.raises(ProtGNNError, match="plain model"):
        figures.cosine(prototype_run, run_folder)
    with pytest.raises(ProtGNNError, match="bench-m"):
        figures.over_m(costs())
    with pytest.raises(ProtGNNError, match="bench-grid"):
        figures.grid({"points": []})
    for content, message in (("{", "not JSON"), ("[1]", "got a list")):
        (tmp_path / "results.json").write_text(content)
        with pytest.raises(ProtGNNError, match=message):
            figures.read_results(tmp_path / "results.json")
    with pytest.raises(ProtGNNError, match="Cannot read"):
        figures.read_results(tmp_path / "none.json")


def test_a_run_that_does_not_say_where_its_data_is_can_be_told(molecules, molecules_csv, tmp_path):
    settings = dict(setting.split("=") for setting in FEW)
    protgnn.ProtGNNClassifier(settings=settings).fit(molecules.train).save(tmp_path / "run")
    with pytest.raises(ProtGNNError, match="does not say what it was trained on"):
        figures.tsne(tmp_path / "run")
    assert "molecules.csv" in figures.tsne(tmp_path / "run", data=str(molecules_csv)).axes[0].get_title()


def test_runs_on_other_classes_cannot_be_compared(prototype_run, molecules, tmp_path):
    settings = dict(setting.split("=") for setting in FEW)
    two = molecules.train[molecules.train.y < 2]
    protgnn.ProtGNNClassifier(settings=settings).fit(two, y=two.y.numpy()).save(tmp_path / "run")
    with pytest.raises(ProtGNNError, match="same classes"):
        figures.cosine(prototype_run, tmp_path / "run")


def test_every_figure_has_a_command(prototype_run, without_diversity, tmp_path, protgnn_command):
    (tmp_path / "m.json").write_text(json.dumps(sweep()))
    (tmp_path / "costs.json").write_text(json.dumps(costs()))
    commands = {
        "tsne": [prototype_run],
        "cosine": [prototype_run, without_diversity],
        "over-m": [tmp_path / "m.json"],
        "grid": [tmp_path / "costs.json"],
    }
    for name, arguments in commands.items():
        output = tmp_path / f"{name}.svg"
        done = protgnn_command("figure", name, *arguments, "-o", output, "--theme", "dark")
        assert done.status == 0, done.err
        assert DARK.paper in output.read_text()
    assert protgnn_command("figure", "grid", tmp_path / "m.json").status == 1
    assert "ends in png" in protgnn_command("figure", "tsne", tmp_path / "nothing", "-o", tmp_path / "a.doc").err
    assert "light, dark" in protgnn_command("figure", "tsne", tmp_path / "nothing", "--theme", "pink").err
    assert "Traceback" not in protgnn_command("figure", "tsne", tmp_path / "nothing").err


def test_naming_the_commands_draws_nothing():
    program = "import sys, protgnn.cli.figures; print('matplotlib' in sys.modules, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize(
    ("benchmark", "points", "draw"),
    [
        (prototype_count, ["--counts", "1", "2"], figures.over_m),
        (cost_grid, ["--clusters", "0", "0.1", "--separations", "0.05"], figures.grid),
    ],
)
def test_sweeps_go_on_where_they_stopped_and_can_be_drawn(
    benchmark, points, draw, molecules_csv, tmp_path, monkeypatch
):
    results = tmp_path / "results.json"
    few = [setting for setting in FEW if "prototypes" not in setting]
    command = ["sweep", "--data", molecules_csv, "--processes", 1, "--set", *few, "--results", results, *points]
    contents = []
    for splits in (1, 2):
        monkeypatch.setattr(sys, "argv", [str(word) for word in (*command, "--splits", splits)])
        benchmark.main()
        contents.append(figures.read_results(results))
    first, second = contents
    assert [len(point["accuracy"]) for point in first["points"]] == [1, 1]
    assert [len(point["accuracy"]) for point in second["points"]] == [2, 2]
    assert first["runs"].items() <= second["runs"].items()  # not trained again: the seconds are the same
    assert draw(second).axes
