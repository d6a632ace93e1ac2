"""The estimator follows scikit-learn and gives back what it was given."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from rdkit import Chem
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

import protgnn
from protgnn.data.schema import Schema
from protgnn.errors import DataError, ProtGNNError

QUICK = {"epochs": 2, "hidden": 8, "head": "plain"}


@pytest.fixture
def quick():
    return protgnn.ProtGNNClassifier(settings=QUICK)


@pytest.fixture(scope="module")
def texts(molecules):
    return np.array(molecules.graphs.schema.class_names)[molecules.graphs.y.numpy()]


def test_parameters_go_in_and_come_out():
    model = protgnn.ProtGNNClassifier(encoder="gat", recipe="paper", settings={"epochs": 3}, seed=4)
    given = {"encoder": "gat", "recipe": "paper", "settings": {"epochs": 3}, "seed": 4}
    assert given.items() <= model.get_params().items()
    assert model.set_params(seed=9).seed == 9


def test_a_clone_is_unfitted_and_learns_the_same(quick, molecules):
    quick.fit(molecules.train)
    twin = clone(quick)
    assert not hasattr(twin, "model_")
    np.testing.assert_array_equal(
        twin.fit(molecules.train).predict_logits(molecules.test), quick.predict_logits(molecules.test)
    )


def test_probabilities_are_a_softmax_and_predictions_their_argmax(quick, molecules):
    quick.fit(molecules.train, validation=molecules.valid)
    chances = quick.predict_proba(molecules.test)
    assert chances.shape == (len(molecules.test), 3)
    np.testing.assert_allclose(chances.sum(1), 1, rtol=1e-5)
    names = np.array(molecules.test.schema.class_names)
    np.testing.assert_array_equal(quick.classes_, names)
    np.testing.assert_array_equal(quick.predict(molecules.test), names[chances.argmax(1)])
    expected = (quick.predict(molecules.test) == names[molecules.test.y.numpy()]).mean()
    assert quick.score(molecules.test) == pytest.approx(expected)
    assert quick.score(molecules.test, names[molecules.test.y.numpy()]) == pytest.approx(expected)


def test_classes_are_names_also_from_a_run_of_either_kind(quick, molecules, run_folder, tmp_path):
    quick.fit(molecules.train, validation=molecules.valid).save(tmp_path)
    names = list(molecules.train.schema.class_names)
    for one in (quick, protgnn.ProtGNNClassifier.from_run(tmp_path), protgnn.ProtGNNClassifier.from_run(run_folder)):
        assert one.classes_.tolist() == names
        assert set(one.predict(molecules.graphs)) <= set(names)
        labels = np.array(names)[molecules.test.y.numpy()]
        assert one.score(molecules.test) == one.score(molecules.test, labels)


def test_numbers_are_no_labels_where_classes_are_names(quick, molecules):
    quick.fit(molecules.train, validation=molecules.valid)
    got = int(molecules.test.y[0])
    said = rf"`classes_`, 'high', 'low', 'medium' \(got {got}\): give texts such as 'high', or leave `y` out"
    with pytest.raises(DataError, match=said):
        quick.score(molecules.test, molecules.test.y.numpy())
    quick.fit(molecules.train, molecules.train.y.numpy(), validation=molecules.valid)
    with pytest.raises(DataError, match=r"`classes_`, 0, 1, 2 \(got 'low'\): give numbers such as 0"):
        quick.score(molecules.test, ["low"] * len(molecules.test))


def test_texts_that_look_like_numbers_are_told_from_numbers(quick, molecules):
    numbered = replace(molecules.graphs, schema=replace(molecules.graphs.schema, class_names=("0", "1", "2")))
    quick.fit(numbered)
    with pytest.raises(DataError, match=r"`classes_`, '0', '1', '2' \(got 0\): give texts such as '0'"):
        quick.score(["CCO", "CCC"], [0, 1])
    with pytest.raises(DataError, match=r"among '0', '1', '2' \(got '7'\)"):
        quick.evaluate(["CCO"], ["7"])


def test_predictions_are_compared_with_the_labels_of_graphs_and_of_nodes(quick, molecules):
    quick.fit(molecules.train, validation=molecules.valid)
    assert (quick.predict(molecules.test) == molecules.test.labels).mean() == quick.score(molecules.test)
    nodes = protgnn.load("ba-shapes").test
    assert nodes.labels.tolist() == [nodes.schema.class_names[label] for label in nodes.y.tolist()]
    with pytest.raises(DataError, match="There are no labels"):
        _ = replace(molecules.test, y=None).labels


def test_columns_of_probabilities_follow_the_classes_whatever_the_labels(quick, molecules, texts):
    """scikit-learn's scorers look up a column by its place in ``classes_``."""
    turned = np.array(["c", "a", "b"])[molecules.graphs.y.numpy()]
    quick.fit(molecules.graphs, turned)
    assert quick.classes_.tolist() == ["a", "b", "c"]
    best = quick.predict_proba(molecules.graphs).argmax(1)
    np.testing.assert_array_equal(quick.predict(molecules.graphs), quick.classes_[best])
    assert cross_val_score(quick, molecules.graphs, texts, cv=2, scoring="neg_log_loss").shape == (2,)
    assert (cross_val_score(quick, molecules.graphs, texts, cv=2, scoring="accuracy") > 0).all()


def test_links_get_a_gcn_unless_another_is_named():
    from protgnn.training.recipe import make_recipe
    from protgnn.training.resolve import resolve

    links, nodes = protgnn.load("ba-shapes", task="links").train, protgnn.load("ba-shapes").train
    assert resolve(make_recipe(), links).encoder == "gcn"
    assert resolve(make_recipe(encoder="gin"), links).encoder == "gin"
    assert resolve(make_recipe(), nodes).encoder == make_recipe().encoder == "gin"
    settings = {"epochs": 1, "hidden": 4, "head": "plain"}
    assert protgnn.ProtGNNClassifier(settings=settings).fit(links).run_.recipe.encoder == "gcn"
    assert protgnn.ProtGNNClassifier("gin", settings=settings).fit(links).run_.recipe.encoder == "gin"


def test_cross_validation_works_with_own_and_with_text_labels(quick, molecules, texts):
    own = cross_val_score(quick, molecules.graphs, molecules.graphs.y.numpy(), cv=2)
    named = cross_val_score(quick, molecules.graphs, texts, cv=2)
    np.testing.assert_array_equal(own, named)


def test_a_grid_search_works(quick, molecules):
    grid = GridSearchCV(quick, {"encoder": ["gcn", "gin"]}, cv=2, error_score="raise")
    grid.fit(molecules.graphs, molecules.graphs.y.numpy())
    assert grid.best_params_["encoder"] in ("gcn", "gin")
    assert len(grid.predict(molecules.test)) == len(molecules.test)


def test_text_labels_come_back_as_texts_also_from_a_run(quick, molecules, texts, tmp_path):
    quick.fit(molecules.graphs, texts)
    assert quick.classes_.tolist() == ["high", "low", "medium"]
    assert set(quick.predict(molecules.graphs)) <= set(texts)
    quick.save(tmp_path)
    again = protgnn.ProtGNNClassifier.from_run(tmp_path)
    np.testing.assert_array_equal(again.predict(molecules.graphs), quick.predict(molecules.graphs))
    assert again.score(molecules.graphs, texts) == quick.score(molecules.graphs, texts)


def test_number_labels_with_gaps_come_back_as_they_were(quick, molecules, tmp_path):
    labels = molecules.graphs.y.numpy() * 10 + 5
    quick.fit(molecules.graphs, labels).save(tmp_path)
    again = protgnn.ProtGNNClassifier.from_run(tmp_path)
    assert again.classes_.tolist() == [5, 15, 25]
    assert again.predict(molecules.graphs).dtype.kind == "i"


def test_a_model_that_is_saved_again_keeps_its_curves(quick, molecules, tmp_path):
    quick.fit(molecules.train, validation=molecules.valid).save(tmp_path / "one")
    protgnn.ProtGNNClassifier.from_run(tmp_path / "one").save(tmp_path / "other")
    log = (tmp_path / "one" / "log.csv").read_text()
    assert log.count("\n") > 1 and (tmp_path / "other" / "log.csv").read_text() == log


def test_labels_of_another_task_do_not_keep_the_old_names(quick, molecules):
    own, other = molecules.train.y.numpy(), (molecules.train.y.numpy() + 1) % 3
    assert quick.fit(molecules.train, own).run_.schema.class_names == molecules.train.schema.class_names
    assert quick.fit(molecules.train, other).run_.schema.class_names == ("0", "1", "2")


def test_a_saved_model_predicts_and_trains_the_same(quick, molecules, tmp_path):
    quick.fit(molecules.train, validation=molecules.valid).save(tmp_path)
    again = protgnn.ProtGNNClassifier.from_run(tmp_path)
    np.testing.assert_array_equal(again.predict_proba(molecules.test), quick.predict_proba(molecules.test))
    retrained = clone(again).fit(molecules.train, validation=molecules.valid)
    np.testing.assert_array_equal(retrained.predict_proba(molecules.test), quick.predict_proba(molecules.test))


def test_a_run_of_the_command_line_opens(run_folder, molecules):
    assert protgnn.ProtGNNClassifier.from_run(run_folder).predict(molecules.graphs).shape == (90,)


def test_pyg_data_are_graphs_too(quick, molecules):
    as_pyg = molecules.train.to_pyg()
    quick.fit(as_pyg)
    numbers = replace(molecules.train, names=None, schema=Schema(class_names=()))
    expected = protgnn.ProtGNNClassifier(settings=QUICK).fit(numbers)
    np.testing.assert_array_equal(quick.predict(as_pyg), expected.predict(numbers))
    assert len(quick.predict(as_pyg[:1])) == 1


def test_one_graph_and_a_list_of_graphs_are_graphs_too(quick, molecules):
    quick.fit(molecules.train)
    assert quick.predict(molecules.test[0]).shape == (1,)
    np.testing.assert_array_equal(quick.predict(list(molecules.test)), quick.predict(molecules.test))


def test_scores_match_classes_by_name_where_graphs_number_them_otherwise(quick, molecules):
    quick.fit(molecules.train, validation=molecules.valid)
    names = molecules.graphs.schema.class_names
    turned = replace(
        molecules.test,
        y=len(names) - 1 - molecules.test.y,
        schema=replace(molecules.test.schema, class_names=names[::-1]),
    )
    assert quick.score(turned) == quick.score(molecules.test)


def test_the_history_has_a_row_per_epoch(quick, molecules):
    assert [row["epoch"] for row in quick.fit(molecules.train).history_] == [1, 2]


def test_verbose_shows_progress_and_changes_nothing(molecules, quick):
    loud = protgnn.ProtGNNClassifier(settings=QUICK, verbose=True).fit(molecules.train)
    quiet = quick.fit(molecules.train)
    np.testing.assert_array_equal(loud.predict_logits(molecules.test), quiet.predict_logits(molecules.test))


def test_what_is_not_fitted_does_not_predict(quick, molecules, tmp_path):
    for call in (quick.predict, quick.predict_proba, quick.score):
        with pytest.raises(NotFittedError):
            call(molecules.test)
    with pytest.raises(NotFittedError):
        quick.save(tmp_path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epoch": 2}, "did you mean 'epochs'"),
        ({"seed": 2}, "Expected `seed` as a parameter of its own"),
        ({"encoder": "gin"}, "Expected `encoder` as a parameter of its own"),
    ],
)
def test_wrong_settings_are_refused_by_name(molecules, settings, message):
    with pytest.raises(ProtGNNError, match=message):
        protgnn.ProtGNNClassifier(settings=settings).fit(molecules.train)


def test_wrong_labels_and_graphs_are_refused(quick, molecules):
    unlabelled = replace(molecules.train, y=None)
    with pytest.raises(DataError, match="a label for every graph"):
        quick.fit(unlabelled)
    with pytest.raises(DataError, match=r"each of 72 graphs \(got 3\)"):
        quick.fit(molecules.train, [0, 1, 2])
    with pytest.raises(DataError, match="Expected classes as labels"):
        quick.fit(molecules.train, np.linspace(0, 1, len(molecules.train)))
    with pytest.raises(DataError, match="one class"):
        quick.fit(molecules.train, np.zeros(len(molecules.train), dtype=int))
    with pytest.raises(DataError, match="Expected labelled validation graphs"):
        quick.fit(molecules.train, validation=unlabelled)
    with pytest.raises(DataError, match=r"torch_geometric Data at graph 0 \(got int"):
        quick.fit([1])
    with pytest.raises(DataError, match="a list of labels"):
        quick.fit(molecules.train, 1)
    with pytest.raises(DataError, match=r"data\.train"):
        quick.fit(molecules)
    with pytest.raises(ProtGNNError, match=r"\(got \{'epochs': 15\}\).*changed by settings=\{"):
        protgnn.ProtGNNClassifier(recipe={"epochs": 15}).fit(molecules.train)
    with pytest.raises(ProtGNNError, match="a dictionary of recipe keys"):
        protgnn.ProtGNNClassifier(settings=[1]).fit(molecules.train)
    with pytest.raises(ProtGNNError, match="validation_fraction between 0 and 1"):
        protgnn.ProtGNNClassifier(validation_fraction=-1).fit(molecules.train)
    worded = molecules.train[:3].to_pyg()
    for graph in worded:
        graph.y = "low"
    with pytest.raises(DataError, match=r"Graph 0 has the `y` 'low', which is no number.*to `fit`"):
        quick.fit(worded)
    quick.fit(molecules.train)
    with pytest.raises(DataError, match="labelled graphs to score on"):
        quick.score(unlabelled)
    narrow = replace(molecules.test, x=molecules.test.x[:, :3], schema=Schema())
    with pytest.raises(DataError, match="node features and this input has 3"):
        quick.predict(narrow)
    broken = molecules.test.x.clone()
    broken[0, 0] = torch.nan
    with pytest.raises(DataError, match="graph 0"):
        quick.predict(replace(molecules.test, x=broken))


def test_the_estimator_explains_what_it_predicts(molecules):
    settings = {"epochs": 2, "hidden": 8, "prototypes": 1, "anchored_epochs": 1, "search_iterations": 2}
    model = protgnn.ProtGNNClassifier(settings=settings).fit(molecules.train, validation=molecules.valid)
    why = model.explain(molecules.test[0])
    np.testing.assert_allclose(why.logits, model.predict_logits(molecules.test[0])[0], atol=1e-5)
    assert str(why).startswith(molecules.test.names[0]) and "sum" in str(why)
    assert len(model.explain(molecules.test)) == len(molecules.test)


def test_molecules_may_be_given_as_smiles(quick, molecules):
    names = list(molecules.train.names)
    quick.fit(names, molecules.train.y.numpy())
    expected = quick.predict_logits(molecules.test)
    np.testing.assert_array_equal(quick.predict_logits(list(molecules.test.names)), expected)
    np.testing.assert_allclose(quick.predict_logits(molecules.test.names[0]), expected[:1], atol=1e-5)
    with pytest.raises(DataError, match="Molecule 1: RDKit cannot read"):
        quick.predict(["CCO", "nonsense"])


def test_molecules_may_be_those_of_rdkit(quick, molecules):
    mols = [Chem.MolFromSmiles(name) for name in molecules.test.names]
    quick.fit([Chem.MolFromSmiles(name) for name in molecules.train.names], molecules.train.y.numpy())
    written = [Chem.MolToSmiles(mol) for mol in mols]
    np.testing.assert_array_equal(quick.predict_logits(mols), quick.predict_logits(written))
    np.testing.assert_allclose(quick.predict_logits(mols[0]), quick.predict_logits(written[0]))
    np.testing.assert_allclose(quick.predict_logits(Chem.AddHs(mols[0])), quick.predict_logits(written[0]))
    np.testing.assert_array_equal(quick.predict(np.array(mols)), quick.predict(mols))
    with pytest.raises(DataError, match=r"RDKit molecule at place 1 \(got None, which RDKit gives.*leave it out"):
        quick.predict([mols[0], None])
    with pytest.raises(DataError, match=r"RDKit molecule at place 1 \(got str\)"):
        quick.predict([mols[0], "CCO"])


@pytest.mark.parametrize("one", [True, False])
def test_an_rdkit_molecule_is_explained_by_its_smiles(prototype_run, one):
    fitted, mol = protgnn.ProtGNNClassifier.from_run(prototype_run), Chem.MolFromSmiles("OCC")
    found = fitted.explain(mol if one else [mol])
    assert (found if one else found[0]).name == "CCO" and isinstance(found, list) is not one


def test_an_inchi_is_refused_with_what_to_do(quick, molecules):
    quick.fit(molecules.train)
    for given in ("InChI=1S/CH4/h1H4", ["InChI=1S/CH4/h1H4"]):
        with pytest.raises(DataError, match=r"is an InChI, not a SMILES: convert it by Chem\.MolToSmiles"):
            quick.predict(given)


def test_data_says_in_a_line_what_it_is(molecules):
    for shown in map(repr, (molecules, molecules.train, protgnn.load("ba-shapes"), protgnn.load("ba-shapes").train)):
        assert len(shown.splitlines()) == 1 and len(shown) < 200
    assert repr(molecules.train).startswith("GraphSet(72 molecules, ")


def test_copies_that_leave_nothing_to_validate_on_are_refused_in_a_sentence():
    with pytest.raises(DataError, match="too few to hold"):
        protgnn.ProtGNNClassifier().fit(["CCO"] * 5 + ["CCN"] * 5, [0] * 5 + [1] * 5)


def test_copies_follow_one_another_where_there_are_other_molecules():
    from protgnn.data.split import set_aside

    groups = np.repeat(np.arange(8), 3)
    kept, held = set_aside(np.repeat([0, 1], 12), 0.25, 0, groups)
    assert not set(groups[kept]) & set(groups[held]) and len(held) >= 2
    assert len(kept) + len(held) == 24


def test_a_list_of_one_is_explained_by_a_list_of_one(molecules):
    settings = {**QUICK, "head": "prototypes", "search_iterations": 2, "anchored_epochs": 1}
    fitted = protgnn.ProtGNNClassifier(settings=settings).fit(molecules.train, validation=molecules.valid)
    assert isinstance(fitted.explain(["CCO"]), list) and not isinstance(fitted.explain("CCO"), list)
