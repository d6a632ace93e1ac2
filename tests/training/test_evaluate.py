"""What is told of a model as a whole: from which similarity on a graph is familiar."""

import torch

from protgnn.training.evaluate import familiarity


def test_a_graph_is_familiar_from_the_similarity_on_that_99_in_100_reach():
    nearest = torch.arange(1.0, 102.0)
    assert familiarity(torch.stack([nearest, torch.zeros(101)], 1)) == 2.0


def test_similarities_do_not_say_what_is_familiar_where_ordinary_graphs_resemble_no_prototype():
    similar = torch.full((100, 3), 2.0)
    similar[:5] = 0
    assert familiarity(similar) is None
