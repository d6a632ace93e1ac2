"""What a model knows and why it decides, in terms a person can check.

====================  ================================================================================
``explanation``       ``explain`` and its result: a ``Reasoning`` whose rows add up to the logits
``comparison``        what a model compares with its prototypes, and what it adds beside them
``composition_rows``  what the composition adds, in lines to read
``run_context``       what a run knows beside weights: prototypes, names, thresholds
``node_cards``        what is known of nodes of a network
``explain_run``       the same with the warnings that a run's training set calls for
``compare_runs``      two runs on the same graphs
``views``             a reasoning for other tools: ``frames`` for pandas, ``masks`` for PyG, notebooks
``predictions``       one line per graph, for tables
``stream``            tables of any length in chunks; ``stream_rows`` makes their rows
``reasoning_json``    a reasoning as plain values
``resolve_input``     from what a user types to the instances that a model takes
``run_data``          the data of a run, read again and checked to be the same
``describe``          subgraphs in words
``to_rdkit``          graphs back to molecules
``unseen_elements``   elements that no training molecule contains
``unknown_words``     words that no training sentence contains, and the language of a sentence
``mcts_evidence``     evidence by tree search, for models that compare whole graphs
``render_text``       a reasoning in the terminal
``certificate``       Theorem 1: which predictions of ProtGNN must survive in ProtGNN+
``metrics``           how well evidence agrees with a known motif
``pyg_module``        a classifier as PyG calls models
``pyg_explainer``     masks for ``torch_geometric.explain``
====================  ================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.explain.explanation import Reasoning, ReasoningRow, RunContext, explain
    from protgnn.explain.frames import to_frame
    from protgnn.explain.pyg_explainer import ProtGNNExplainer
    from protgnn.explain.pyg_module import PyGModule

__all__ = ["ProtGNNExplainer", "PyGModule", "Reasoning", "ReasoningRow", "RunContext", "explain", "to_frame"]

_HOME = {
    "ProtGNNExplainer": "pyg_explainer",
    "PyGModule": "pyg_module",
    "Reasoning": "explanation",
    "ReasoningRow": "explanation",
    "RunContext": "explanation",
    "explain": "explanation",
    "to_frame": "frames",
}

__getattr__ = lazy_exports(__name__, _HOME)
