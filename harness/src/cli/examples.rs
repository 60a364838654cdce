//! Examples that `--help` ends with, one for each thing that people come for.

/// Of the program.
pub const PROGRAM: &str = "\
Examples:
  lockstorm run failover-loses-the-lock
  lockstorm assess token redlock
  lockstorm check history.jsonl";

/// Of `run`.
pub const RUN: &str = "\
Examples:
  lockstorm run failover-loses-the-lock
  lockstorm run scenarios/ --jobs 2 --format github
  lockstorm run storm-crowd --repeat 20 --seed 7
  lockstorm run mine.toml --set 'lock.token.lease=\"2s\"' --open";

/// Of `assess`.
pub const ASSESS: &str = "\
Examples:
  lockstorm assess token
  lockstorm assess token redlock --topology single,replicated,independent --jobs 2
  lockstorm assess --adapter adapters/python/redis-py/run --topology single
  lockstorm assess --adapter 'python3 mine.py' --promise keeps-alive";

/// Of `hunt`.
pub const HUNT: &str = "\
Examples:
  lockstorm hunt token --for 2m
  lockstorm hunt redlock --topology independent --faults 3 --jobs 2
  lockstorm hunt --adapter adapters/go/redsync/run --for 10m
  lockstorm hunt token --for 2m --resume runs/latest";

/// Of `shrink`.
pub const SHRINK: &str = "\
Examples:
  lockstorm shrink runs/latest";

/// Of `check`.
pub const CHECK: &str = "\
Examples:
  lockstorm check history.jsonl
  lockstorm check runs/latest --format json
  lockstorm check log.jsonl.gz --time-unit ms --clock-error 50ms
  kubectl logs workers | lockstorm check -";

/// Of `export`.
pub const EXPORT: &str = "\
Examples:
  lockstorm export runs/latest --to edn --out history.edn";

/// Of `report`.
pub const REPORT: &str = "\
Examples:
  lockstorm report runs/latest --open
  lockstorm report runs/before runs/after --out comparison
  lockstorm report part-1/latest part-2/latest --out whole --fail-on unexpected
  lockstorm report history.jsonl --out page";

/// Of `validate`.
pub const VALIDATE: &str = "\
Examples:
  lockstorm validate scenarios/
  lockstorm validate mine.toml --format github";

/// Of `list`.
pub const LIST: &str = "\
Examples:
  lockstorm list locks
  lockstorm list scenarios --format json";

/// Of `explain`.
pub const EXPLAIN: &str = "\
Examples:
  lockstorm explain lost-lock
  lockstorm explain honest-refusal";

/// Of `init`.
pub const INIT: &str = "\
Examples:
  lockstorm init scenario mine.toml
  lockstorm init adapter python
  lockstorm init adapter go/redsync --into adapters";

/// Of `adapter`.
pub const ADAPTER: &str = "\
Examples:
  lockstorm adapter test adapters/python/redis-py/run
  lockstorm adapter test --topology sentinel python3 mine.py";
