// An adapter of Lockstorm around `@microfleet/ioredis-lock` of npm: docs/adapter-protocol.md.

import { Unsupported, serve, versionOf } from "../../sdk/node/lockstorm-adapter.mjs";
import { OnIoredis, overheard } from "../../sdk/node/ioredis.mjs";
import Redis from "ioredis";
import { createLock } from "@microfleet/ioredis-lock";

const PACKAGE = "@microfleet/ioredis-lock";
/** What the library's errors say when a server has said no, or was not asked. */
const NO = /^Could not acquire lock on |had expired$|^Lock has not been acquired$/;

/** One client of the lock. */
class IoredisLock extends OnIoredis {
  name = [PACKAGE, ...process.argv.slice(2)].join(" ");
  version = versionOf(import.meta.url, PACKAGE);
  can = ["wait"];

  open(client) {
    const { length } = this.connect(Redis, client);
    if (length > 1) throw new Unsupported(`it is on one server, and here are ${length}`);
    this.lease = client.lease;
    this.answersWithin = 10_000 + client.patience;
  }

  async acquire(key, { wait }) {
    const begun = performance.now();
    const heard = overheard(this.clients);
    const [client] = heard.clients;
    const { delay, jitter } = createLock(client).config;
    const retries = Math.floor(wait / (delay * jitter));
    const lock = createLock(client, { timeout: this.lease, retries });
    if (!(await told(lock.acquire(key)))) return false;
    // The library does not say for how long: from when the try was sent that was granted.
    return { lock, lease: this.lease, waited: heard.sent - begun, marks: [lock._id] };
  }

  async renew(key, { lock }) {
    return (await told(lock.extend())) && { lease: this.lease };
  }

  release(key, { lock }) {
    return told(lock.release());
  }
}

/** What comes of a call; false where the library says no, which only the text of an error tells. */
async function told(call) {
  try {
    return await call;
  } catch (error) {
    if (NO.test(error.message)) return false;
    throw error;
  }
}

serve(new IoredisLock());
