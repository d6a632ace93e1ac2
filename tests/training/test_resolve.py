"""What a recipe leaves to the data is settled once, stored, and not chosen again."""

import pytest

import protgnn
from protgnn.training.recipe import AUTO_BEFORE, make_recipe
from protgnn.training.resolve import resolve, settled, window_of
from protgnn.training.run import Run, read_run
from protgnn.training.train import SplitData, train_in

SMALL = {"hidden": 8, "epochs": 4, "prototypes": 2, "anchored_epochs": 2, "search_iterations": 2, "refine_steps": 2}
AUTOS = {*AUTO_BEFORE, "ending_window", "select_by", "evidence"}


@pytest.mark.parametrize("changes", [{}, {"plus": True}, {"head": "plain"}, {"plus": True, "evidence_edges": 15}])
def test_nothing_stays_auto_and_resolving_again_changes_nothing(molecules, changes):
    recipe = make_recipe(**changes)
    assert {key for key, value in recipe.model_dump().items() if value == "auto"} == AUTOS
    done = resolve(recipe, molecules.train)
    assert "auto" not in done.model_dump().values()
    assert resolve(done, molecules.train) == resolve(done, molecules.train[:30]) == done


def test_what_the_user_chose_stays(molecules):
    chosen = {"warm_up": 7, "patience": 0, "window": 3, "batch_size": 5, "search_max_nodes": 8, "encoder": "gat"}
    done = resolve(make_recipe(**chosen), molecules.train)
    assert {key: getattr(done, key) for key in chosen} == chosen
    assert done.ending_window == 3


def test_each_stage_has_the_window_that_auto_gives_it(molecules):
    recipe = make_recipe(epochs=24, anchored_epochs=6, batch_size=8)
    done = resolve(recipe, molecules.train)
    windows = [window_of(recipe, len(molecules.train), epochs) for epochs in (24, 6)]
    assert [done.window, done.ending_window] == windows
    assert windows[0] > windows[1] == 3


def test_a_run_stores_what_was_settled_and_its_recipe_can_be_used_again(molecules, tmp_path):
    run = Run(make_recipe(**SMALL), molecules.train.schema)
    train_in(tmp_path / "run", SplitData(molecules.train, molecules.valid), run)
    stored = read_run(tmp_path / "run").recipe
    assert stored == resolve(run.recipe, molecules.train)
    assert "auto" not in stored.model_dump().values()


def test_links_are_learned_with_a_gcn_unless_an_encoder_is_chosen():
    links = protgnn.load("communities", task="links").train
    assert resolve(make_recipe(), links).encoder == "gcn"
    assert resolve(make_recipe(encoder="gin"), links).encoder == "gin"
    nodes = protgnn.load("communities").train
    assert resolve(make_recipe(), nodes).encoder == "gin"


def test_an_unsettled_value_is_not_computed_with():
    assert settled(3) == 3
    with pytest.raises(ValueError, match="resolve it first"):
        settled("auto")
