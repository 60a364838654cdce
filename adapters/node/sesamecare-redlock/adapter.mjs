// An adapter of Lockstorm around `@sesamecare-oss/redlock` of npm: docs/adapter-protocol.md.

import { serve, versionOf } from "../../sdk/node/lockstorm-adapter.mjs";
import { OnRedlock5 } from "../../sdk/node/redlock5.mjs";
import Redis from "ioredis";
import { ExecutionError, Redlock, ResourceLockedError } from "@sesamecare-oss/redlock";

const PACKAGE = "@sesamecare-oss/redlock";

/** One client of the lock. */
class SesamecareRedlock extends OnRedlock5 {
  name = [PACKAGE, ...process.argv.slice(2)].join(" ");
  version = versionOf(import.meta.url, PACKAGE);
}

serve(new SesamecareRedlock({ Redis, Redlock, ExecutionError, ResourceLockedError }));
