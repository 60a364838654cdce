// An adapter of Lockstorm around the npm package `redlock`, version 5: docs/adapter-protocol.md.

import { serve, versionOf } from "../../sdk/node/lockstorm-adapter.mjs";
import { OnRedlock5 } from "../../sdk/node/redlock5.mjs";
import Redis from "ioredis";
import Redlock, { ExecutionError, ResourceLockedError } from "redlock";

/** One client of the lock. */
class Redlock5 extends OnRedlock5 {
  name = ["redlock", ...process.argv.slice(2)].join(" ");
  version = versionOf(import.meta.url, "redlock");
}

serve(new Redlock5({ Redis, Redlock, ExecutionError, ResourceLockedError }));
