# make run   install what is missing, then serve the chat on http://127.0.0.1:7860
# make test  install what is missing, Chromium and PostgreSQL too where allowed, then run all tests
#
# PYTHON=python3.12 chooses the interpreter, DEVICE=cpu leaves an NVIDIA GPU alone.
.PHONY: setup setup-dev run test fleet lint format bench readme docs figures screenshots lock
export PYTHON DEVICE
# A process that imports vLLM takes twice as long where nothing keeps the compiled modules.
unexport PYTHONDONTWRITEBYTECODE

PACKAGES = inferscale benchmarks ui app agent memory_engine scripts tests
BIN = .venv/bin

setup:
	@scripts/setup

setup-dev:
	@scripts/setup --dev

run: setup
	@$(BIN)/inferscale migrate
	@exec $(BIN)/inferscale serve

test: setup-dev
	@scripts/test_packages
	@$(BIN)/python -m pytest

# A whole fleet on this machine, whose parts are killed: USERS, CROWD and FLEET="--only engine".
fleet: setup-dev
	@$(BIN)/python -m tests.fleet --users $(or $(USERS),8) --crowd $(or $(CROWD),100) $(FLEET)

lint: setup-dev
	$(BIN)/ruff format --check $(PACKAGES)
	$(BIN)/ruff check $(PACKAGES)
	$(BIN)/mypy $(PACKAGES)

format: setup-dev
	$(BIN)/ruff format $(PACKAGES)
	$(BIN)/ruff check --fix $(PACKAGES)

bench: setup
	@$(BIN)/inferscale bench

# Bring the generated parts of README.md and docs/ up to date.
readme docs: setup
	@$(BIN)/python -m scripts.readme

# Bring the figures of docs and their plots up to date with the reports.
figures: setup-dev
	@$(BIN)/python -m scripts.figures.speed_figures
	@$(BIN)/python -m scripts.figures.speed_plots
	@$(BIN)/python -m scripts.figures.quality_figures
	@$(BIN)/python -m scripts.figures.ship_rates
	@$(BIN)/python -m scripts.figures.scale_figures

# Take the pictures of README.md again, with the bundled model and Chromium.
screenshots: setup-dev
	@$(BIN)/python -m scripts.screenshots

# Resolve the requirement files again, keeping the pins that still fit.
lock: setup
	@scripts/lock
