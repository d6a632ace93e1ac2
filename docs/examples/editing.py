"""Look at what a model knows, object to a part of it, and see at once what that costs."""

import protgnn
from protgnn.explain import to_frame

data = protgnn.load("solubility")
settings = {"warm_up": 3, "anchored_epochs": 1, "hidden": 16}  # leave it out for a good model; this one is quick
model = protgnn.ProtGNNClassifier(plus=True, settings=settings).fit(data.train[::4], validation=data.valid)
for number, card in enumerate(model.run_.prototypes.cards):
    print(number, data.graphs.schema.class_names[card.label], card.nodes, "of", card.name, f"weight {card.weight:.2f}")

result = model.edit(remove=[0], add=["low: c1ccccc1Cl"])  # a part of a training molecule, by its SMILES
print(result)  # what was done, and the accuracy on the validation part before and after
model.undo()

model.edit(require=[1], forbid=[0])  # prototype 1 stays, and what prototype 0 shows never comes back
print(model.retrain(epochs=1))  # training goes on with that
for step in model.edits_:
    print("; ".join(step.done), f"{step.before:.3f} → {step.after:.3f}")
print(f"accuracy on {len(data.test)} test molecules, looked at once, at the end: {model.score(data.test):.3f}")

reasons = model.explain(data.test[:5])
table = to_frame(reasons)  # with pandas
print(table[["graph", "predicted", "looks_like", "part", "similarity", "contribution"]].head())
print(reasons[0].node_mask().shape, reasons[0].edge_mask().shape)  # as torch_geometric.explain has them
model.save("runs/edited")  # a run of its own, with the history
