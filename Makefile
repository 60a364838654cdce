# Everything a newcomer needs: `make demo` shows what Lockstorm does, `make test` proves it.

.PHONY: field-guide docs demo test test-quick dist check bench interop mutants clean-exits kills storms control promises breaking-numbers shrunk-storms scoreboard scoreboard-hunts track-record pictures setup setup-tests

# The comparison of the README on real servers: a lock on one server, the same on a primary with a replica, and
# Redlock on five masters. What would have to go wrong for each, and how many faults does it take? Four minutes, once
# it is built.
DEMO = token redlock --topology single,replicated,independent --jobs 2 --only plain-use --only client-pause \
  --only paused-holder --only holder-dies --only key --only servers- --only failover --only minority \
  --only power-cut --only storm-contention --hunt 20s
demo: setup
	cargo build --release --locked --quiet --bin lockstorm
	./target/release/lockstorm assess $(DEMO)

# Tests mostly wait, for leases to end and for servers: four more at once than there are cores keep them busy.
export RUST_TEST_THREADS ?= $(shell expr 4 + $$(nproc))

# Every test, those of real servers included.
test: setup-tests
	bash .ci/test

# Tests that need no server and no browser: unit tests, the checker with fewer random histories, scenario files,
# house rules and documentation. Under two minutes once they are built.
test-quick:
	cargo test --workspace --locked --lib
	LOCKSTORM_ROUNDS=100 cargo test --locked -p lockstorm-checker -p lockstorm-scenarios --test integration
	cargo test --locked -p lockstorm --test integration -- tidy:: docs::

# The packages of this version, in target/dist, each installed into a place of its own and tried: some ten minutes.
dist: setup
	bash .ci/dist
	bash .ci/dist-check

# The pages of docs/ as a book with a search, in target/book.
docs:
	bash .ci/docs

# What CI runs.
check:
	bash .ci/run

# Cycles per second with and without Lockstorm around the lock; Redisson's locks; seconds for a verdict on a
# million operations; seconds until servers are ready, and until another takes over from one that is killed; the page
# and the pictures of a large run.
bench: setup
	cargo bench --locked --bench overhead --bench fabric --bench locks --bench sweep \
	  --bench topologies --bench report --bench pictures

# The pictures of the field guide, from real runs, and its pages; a quarter of an hour.
# `make field-guide ONLY=connections-closed` draws those of some situations.
field-guide: setup
	LOCKSTORM_ONLY="$(ONLY)" cargo test --locked -p lockstorm --test integration field_guide:: -- --ignored
	UPDATE_HAZARDS=1 cargo test --locked -q -p lockstorm-scenarios --test integration hazards_page::

# Which situations break which known-bad lock: docs/mutants.md, from real runs; half an hour.
# `make mutants ONLY=half-is-enough` looks for what breaks some of them.
mutants: setup
	LOCKSTORM_ONLY="$(ONLY)" UPDATE_MUTANTS=1 cargo test --locked -p lockstorm --test integration mutants:: -- --ignored

# Every situation with the real Redisson beside ours, on every topology, in every era; hours. LOCKSTORM_ONLY='red 4.7'
# takes some of them. Before that, both at the same locks in the eras that CI leaves out.
interop: setup-tests
	bash .ci/setup adapters
	cargo test --locked -p lockstorm --test integration interop:: -- --ignored
	cargo test --locked -p lockstorm --test integration real_redisson:: -- --ignored --nocapture

# Ends runs in every way, fifty times each, and looks for what is left of them; some minutes.
clean-exits: setup
	LOCKSTORM_ROUNDS=50 cargo test --locked -p lockstorm --test integration clean_exits::

# Kills harnesses two hundred times each way, and looks for what is missing in their histories; some minutes.
kills: setup
	LOCKSTORM_ROUNDS=200 cargo test --locked -p lockstorm --test integration acknowledged:: -- --nocapture

# Five hundred storms with one known cause each: is the right fault blamed, is a remedy wrong? Some minutes.
storms: setup
	LOCKSTORM_ROUNDS=500 cargo test --locked -p lockstorm --test integration causes:: -- --nocapture

# Every lock of the control on all kinds of servers, a million healthy cycles each: nobody is accused. Some
# twenty minutes; `FILTER='token single'` takes one row.
control: setup
	cargo build --release --locked --quiet --bin lockstorm
	./target/release/lockstorm run scenarios/library/storms/storm-control.toml --report none \
	  --set clients.count=100 --set clients.keys=1000 --set storm.rounds=10000 --set storm.duration=60m \
	  --filter "storm-control $(FILTER)"

# What every built-in lock promises, keeps and breaks: docs/promises.md, from real runs; two hours.
# `make promises ONLY=etcd-lock` assesses some of them.
promises: setup
	LOCKSTORM_ONLY="$(ONLY)" UPDATE_PROMISES=1 cargo test --locked -p lockstorm --test integration built_in_promises:: -- --ignored

# The fewest faults that break each built-in lock, and each mutant: docs/breaking-numbers.md, from real runs; three
# hours. Hunts those of which scenarios/hunted has nothing yet; `make breaking-numbers ONLY=redlock` hunts some of them.
breaking-numbers: setup
	LOCKSTORM_ONLY="$(ONLY)" cargo test --locked -p lockstorm --test integration -- --ignored --test-threads 1 \
	  breaking_numbers::every_lock breaking_numbers::every_mutant

# Storms that violate something, each shrunk to a script of a few steps: docs/shrunk-storms.md, from real runs; half an
# hour. Shrinks those of scenarios/shrunk/storms that have no script yet; ONLY is the same.
shrunk-storms: setup-tests
	LOCKSTORM_ONLY="$(ONLY)" cargo test --locked -p lockstorm --test integration -- --ignored --test-threads 1 \
	  shrunk_storms::

# What the libraries of adapters/scoreboard.toml keep and break: docs/scoreboard.md, from real runs; some hours.
# Assesses what adapters/scoreboard has no facts of yet; `make scoreboard ONLY=redsync` takes some of it, and
# SINCE=2026-11-28 also what was assessed before that day.
scoreboard: setup
	bash .ci/setup adapters
	LOCKSTORM_ONLY="$(ONLY)" LOCKSTORM_SINCE="$(SINCE)" cargo test --locked -p lockstorm --test integration \
	  scoreboard::every_library_is_on_the_scoreboard -- --ignored
	UPDATE_HAZARDS=1 cargo test --locked -q -p lockstorm-scenarios --test integration hazards_page::

# The fewest faults that break the libraries of the scoreboard, ten minutes each: for docs/scoreboard.md; hours. Hunts
# those of which scenarios/hunted has nothing yet; ONLY is the same.
scoreboard-hunts: setup
	bash .ci/setup adapters
	LOCKSTORM_ONLY="$(ONLY)" cargo test --locked -p lockstorm --test integration \
	  scoreboard::every_library_is_hunted -- --ignored

# What is on the scoreboard, with other releases of each library: docs/track-record.md. It installs them in
# target/scoreboard, and tries those that were not tried yet; ONLY is the same.
track-record: setup
	LOCKSTORM_ONLY="$(ONLY)" cargo test --locked -p lockstorm --test integration scoreboard::every_finding -- --ignored

# The pictures of the documentation, from real runs: docs/pictures. Some three minutes.
pictures: setup-tests
	cargo build --release --locked --quiet --bin lockstorm
	rm -rf target/pictures
	./target/release/lockstorm run scenarios/library/examples/failover-loses-the-lock.toml --seed 42 \
	  --report html --out target/pictures/failover
	./target/release/lockstorm assess token redlock --topology single,replicated,independent --jobs 2 \
	  --only plain-use --only client-pause --only holder-dies --only servers-killed --only servers-forget \
	  --only failover-before --seed 42 --report html --out target/pictures/comparison
	./target/release/lockstorm run docs/pictures/storm.toml --seed 42 --report html \
	  --out target/pictures/storm
	LOCKSTORM_PICTURES="$(CURDIR)/target/pictures" \
	  cargo test --locked -p lockstorm-reports --test browser -- --ignored pictures

# Installs a redis-server where there is none, and says how.
setup:
	@bash .ci/setup server

# The same, a JDK with Maven for the tests against the real Redisson, and Chromium for those of pages.
setup-tests:
	@bash .ci/setup
