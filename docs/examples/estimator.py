"""Train, score, explain, save and load a classifier of molecules from Python."""

import protgnn

data = protgnn.load("solubility")  # or protgnn.read_csv("mols.csv", smiles="smiles", label="active")
model = protgnn.ProtGNNClassifier(encoder="gin", plus=True, settings={"epochs": 15})
model.fit(data.train, validation=data.valid)  # leave `settings` out for a good model; this one is quick
print(f"accuracy on {len(data.test)} test molecules: {model.score(data.test):.2f}")
print(model.predict(["CCO", "c1ccccc1"]))  # SMILES will do for molecules

why = model.explain(data.test[0])  # the sum behind one prediction
print(why)
why.save("why.svg")  # or .png, .html, .json

model.save("runs/estimator")
again = protgnn.ProtGNNClassifier.from_run("runs/estimator")
assert (again.predict(data.test) == model.predict(data.test)).all()
