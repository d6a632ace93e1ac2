"""The recipe: every knob once, refused by name when it is wrong."""

import json

import pytest

from protgnn.errors import ProtGNNError
from protgnn.training.recipe import AUTO_BEFORE, Recipe, largest_prototype, make_recipe
from protgnn.training.resolve import epochs_of_patience, graphs_per_step
from protgnn.training.settings import parse_settings, read_config


def test_every_knob_says_what_it_means():
    for name, field in Recipe.model_fields.items():
        assert field.description, name


def test_the_paper_recipe_has_the_papers_values_and_our_own_elsewhere():
    paper, default = make_recipe("paper"), make_recipe()
    assert (paper.hidden, paper.layers, paper.epochs, paper.lr, paper.readout) == (128, 3, 500, 0.005, "max")
    for name, field in Recipe.model_fields.items():
        extra = field.json_schema_extra or {}
        assert getattr(paper, name) == extra.get("paper", getattr(default, name)), name


def test_changes_win_over_the_paper():
    assert make_recipe("paper", epochs=7).epochs == 7


def test_texts_are_parsed_to_the_types_of_the_recipe():
    recipe = make_recipe(epochs="40", lr="1e-2", edge_features="false")
    assert (recipe.epochs, recipe.lr, recipe.edge_features) == (40, 0.01, False)


def test_a_recipe_cannot_be_changed_after_it_was_made():
    with pytest.raises(ValueError, match="frozen"):
        make_recipe().epochs = 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epoch": 3}, "did you mean 'epochs'"),
        ({"name": "x"}, "no recipe key 'name'"),
        ({"zzz": 3}, "known are head, plus, encoder"),
        ({"epochs": 0}, r"Recipe key epochs: .*greater than or equal to 1 \(got 0\)"),
        ({"epochs": "many"}, r"epochs: .*integer.*\(got 'many'\)"),
        ({"patience": "long"}, r"^Recipe key patience: .*valid integer.* or auto \(got 'long'\)$"),
        ({"batch_size": -1}, r"^Recipe key batch_size: .*greater than or equal to 1 or auto \(got -1\)$"),
        ({"warm_up": -2}, "Recipe key warm_up"),
        ({"lr": 0}, "Recipe key lr"),
        ({"lr": float("nan")}, "Recipe key lr"),
        ({"dropout": 1}, "Recipe key dropout"),
        ({"dropout": "nan"}, "Recipe key dropout"),
        ({"norm": "group"}, "'batch', 'layer' or 'none'"),
        ({"encoder": "sage"}, "expected gcn, gin, gat"),
        ({"encoder": ["gin"]}, "Recipe key encoder"),
        ({"encoder": "gat", "hidden": 30}, "hidden=30 cannot be divided over heads=4"),
        ({"seed": -1}, "Recipe key seed"),
        ({"seed": 2**31}, "Recipe key seed"),
        ({"split": "mine"}, "Recipe key split"),
        ({"hidden": 10**9}, "Recipe key hidden"),
        ({"search_min_nodes": 11}, "search_min_nodes=11 is above search_max_nodes=10"),
        ({"search_max_nodes": 0}, "search_max_nodes=0 leaves nothing"),
        ({"search_max_nodes": 3, "plus": True}, "search_min_nodes=5 is above search_max_nodes=3"),
    ],
)
def test_a_wrong_knob_is_refused_by_name(changes, message):
    with pytest.raises(ProtGNNError, match=message):
        make_recipe(**changes)


@pytest.mark.parametrize(
    ("changes", "nodes"),
    [
        ({}, 10),
        ({"evidence_edges": 15}, 10),
        ({"plus": True}, 10),
        ({"plus": True, "evidence_edges": 15}, 15),
        ({"plus": True, "evidence_edges": 3}, 5),
        ({"plus": True, "evidence_edges": 15, "search_max_nodes": 12}, 12),
    ],
)
def test_prototypes_are_as_large_as_the_evidence_they_are_compared_with(changes, nodes):
    assert largest_prototype(make_recipe(**changes)) == nodes


def test_all_wrong_knobs_are_named_at_once():
    with pytest.raises(ProtGNNError, match=r"epochs(.|\n)*lr"):
        make_recipe(epochs=0, lr=-1)


def test_an_unknown_recipe_is_refused():
    with pytest.raises(ProtGNNError, match=r"default, paper \(got 'best'\)"):
        make_recipe("best")


def test_settings_are_pairs_of_key_and_value_or_refused():
    assert parse_settings(["epochs=40", " lr = 0.1 "]) == {"epochs": "40", "lr": "0.1"}
    for wrong in ("epochs", "=4", "epochs=", " = "):
        with pytest.raises(ProtGNNError, match="key=value"):
            parse_settings([wrong])


def test_toml_and_json_say_the_same(tmp_path):
    (tmp_path / "a.toml").write_text('epochs = 3\nencoder = "gcn"\n')
    (tmp_path / "a.json").write_text(json.dumps({"epochs": 3, "encoder": "gcn"}))
    assert read_config(tmp_path / "a.toml") == read_config(tmp_path / "a.json") == {"epochs": 3, "encoder": "gcn"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.toml", b"epochs = ", "neither TOML nor JSON"),
        ("a.json", b"{", "neither TOML nor JSON"),
        ("a.json", b"[1]", "keys and values .got a list."),
        ("a.toml", b"\xff\xfe", "neither TOML nor JSON"),
        ("a.json", b"[" * 100_000, "neither TOML nor JSON"),
    ],
)
def test_a_broken_config_is_refused_by_name(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ProtGNNError, match=message) as error:
        read_config(tmp_path / name)
    assert str(tmp_path / name) in str(error.value)


def test_a_config_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ProtGNNError, match="no such file"):
        read_config(tmp_path / "none.toml")
    with pytest.raises(ProtGNNError, match="Is a directory"):
        read_config(tmp_path)


def test_small_data_waits_longer_and_takes_smaller_steps():
    recipe = make_recipe()
    assert graphs_per_step(recipe, 150) == 16 and epochs_of_patience(recipe, 150) == 100  # 10 steps an epoch
    assert graphs_per_step(recipe, 70_000) == 64 and epochs_of_patience(recipe, 70_000) == 30
    assert graphs_per_step(make_recipe(batch_size=5), 150) == 5
    assert [epochs_of_patience(make_recipe(patience=given), 150) for given in (0, 3)] == [0, 3]


@pytest.mark.parametrize("key", AUTO_BEFORE)
def test_auto_is_a_word_and_the_numbers_that_meant_it_still_do(key):
    before = AUTO_BEFORE[key]
    for value in ("auto", before, str(before), f" {before} "):
        assert getattr(make_recipe(**{key: value}), key) == "auto"
    assert getattr(make_recipe(**{key: 7, "search_min_nodes": 1}), key) == 7


def test_the_keys_are_in_the_sections_that_the_recipe_names():
    keys = list(Recipe.model_fields)
    first = ["head", "cluster", "warm_up", "projection_start", "epochs", "split", "seed"]
    assert [keys.index(key) for key in first] == sorted(keys.index(key) for key in first)
    assert (
        Recipe.__doc__ is not None
        and "model, loss, evidence, projection, optimisation, data, runtime" in Recipe.__doc__
    )
