"""The search space is read from TOML, checked against the recipe, and drawn from."""

import pytest

from protgnn.errors import ProtGNNError
from protgnn.sweep.space import read_space, recipe_with
from protgnn.training.recipe import make_recipe


class Drawn:
    """Stands for Optuna's trial: remembers what it was asked for and draws the lower end."""

    def __init__(self):
        self.asked = {}

    def suggest_categorical(self, key, choices):
        self.asked[key] = choices
        return choices[0]

    def suggest_int(self, key, low, high, step, log):
        self.asked[key] = (low, high, step, log)
        return low

    def suggest_float(self, key, low, high, step, log):
        self.asked[key] = (low, high, step, log)
        return low


def test_the_default_space_is_one_of_recipes():
    drawn = Drawn()
    values = read_space().suggest(drawn)
    assert {"lr", "hidden", "layers", "prototypes"} <= set(values)
    assert recipe_with(make_recipe(), values).lr == values["lr"]
    assert drawn.asked["layers"] == (2, 5, 1, False) and drawn.asked["lr"][3] is True


def test_what_is_set_on_the_command_line_is_not_tried():
    space = read_space().without({"lr", "hidden"})
    assert "lr" not in space.keys and "layers" in space.keys
    with pytest.raises(ProtGNNError, match="nothing is left to try"):
        read_space().without(set(read_space().keys))


def test_changes_count_as_chosen_and_the_rest_stays_as_it_was():
    base = make_recipe("paper", hidden=16)
    changed = recipe_with(base, {"lr": 0.01})
    assert changed.model_fields_set == {"hidden", "lr"} and changed.epochs == 500 and changed.lr == 0.01


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[lrr]\nlow=0.1\nhigh=0.2", "did you mean 'lr'"),
        ("[lr]\nlow=0.1\nhigh=2", "Recipe key lr"),
        ("[lr]\nlow=0.2\nhigh=0.1", "low=0.2 is above high=0.1"),
        ("[lr]\nlow=0.0\nhigh=0.1\nlog=true", "low above 0"),
        ("[lr]\nchoices=[]", r"\[lr\] choices"),
        ("[lr]\nlow=0.1\nhigh=0.2\nwidth=1", r"\[lr\] width"),
        ("lr = 0.1", r"\[lr\]"),
        ("[seed]\nlow=0\nhigh=3", "a seed is not better"),
        ("", "no keys"),
        ("[lr", "no TOML file"),
    ],
)
def test_a_space_that_is_none_is_refused_with_what_is_wrong(tmp_path, text, said):
    path = tmp_path / "space.toml"
    path.write_text(text)
    with pytest.raises(ProtGNNError, match=said):
        read_space(path)
