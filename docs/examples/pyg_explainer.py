"""PyG's Explainer and its metrics on a ProtGNN: the prototypes make the masks."""

from torch_geometric.explain import Explainer
from torch_geometric.explain.metric import fidelity

import protgnn
from protgnn.explain import ProtGNNExplainer, PyGModule

data = protgnn.load("solubility")
model = protgnn.ProtGNNClassifier(settings={"epochs": 5, "anchored_epochs": 0, "hidden": 32}).fit(data.train)
explainer = Explainer(
    PyGModule(model.model_, model.run_.schema, model.run_.recipe),
    ProtGNNExplainer(),
    explanation_type="model",
    node_mask_type="object",
    edge_mask_type="object",
    model_config={"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"},
)
graph = data.test[0].to_pyg()[0]
explanation = explainer(graph.x, graph.edge_index, edge_attr=graph.edge_attr)  # node_mask, edge_mask
positive, negative = fidelity(explainer, explanation.threshold("hard", 0.5))
print(f"fidelity: {positive:.2f} without the marked part, {negative:.2f} with nothing else")
