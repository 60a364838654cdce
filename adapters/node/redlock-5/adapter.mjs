// An adapter of Lockstorm around the npm package `redlock`, version 5: docs/adapter-protocol.md.

import { Failed, patiently, serve, versionOf } from "../../sdk/node/lockstorm-adapter.mjs";
import { OnIoredis } from "../../sdk/node/ioredis.mjs";
import Redis from "ioredis";
import Redlock, { ExecutionError, ResourceLockedError } from "redlock";
import { Using } from "./using.mjs";

/** One client of the lock. */
class Redlock5 extends OnIoredis {
  name = ["redlock", ...process.argv.slice(2)].join(" ");
  version = versionOf(import.meta.url, "redlock");
  can = ["wait", "watchdog"];
  promises = ["survives-minority", "keeps-alive", "tells-of-loss"];

  open(client) {
    ({ lease: this.lease, renewEvery: this.every } = client);
    this.redlock = new Redlock(this.connect(Redis, client));
    const { retryCount, retryDelay, retryJitter } = this.redlock.settings;
    // All tries, and a last one that gives back what they got.
    this.answersWithin = 10_000 + (retryCount + 2) * (client.patience + retryDelay + retryJitter);
  }

  async acquire(key, { wait }) {
    const ask = (retryCount) => told(this.take(key, { retryCount }));
    return grantOf(await patiently(wait, this.redlock.settings, ask));
  }

  take(key, settings) {
    if (this.every === undefined) return this.redlock.acquire([key], this.lease, settings);
    const renewal = async (extension) => grantOf(await told(extension));
    return new Using(this.clients, { key, every: this.every, renewal }).take(this.lease, settings);
  }

  async renew(key, { lock }) {
    return grantOf(await told(lock.extend(this.lease)));
  }

  release(key, { lock }) {
    return told(lock.release());
  }
}

const grantOf = (lock) => lock && { lock, expires: lock.expiration, marks: [lock.value] };

/**
 * What comes of a call; false where servers said no. The library has one error for that and for a
 * failure: they differ in the votes of each try.
 */
async function told(call) {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ExecutionError)) throw error;
    // Without a try: the lock has expired by the library's clock.
    if (error.attempts.length === 0) throw new Failed(error.message);
    const tries = await Promise.all(error.attempts);
    const votes = tries.flatMap(({ votesAgainst }) => [...votesAgainst.values()]);
    const failures = votes.filter((vote) => !(vote instanceof ResourceLockedError));
    if (failures.length === 0) return false;
    const texts = new Set([error, ...failures].map(({ message }) => message));
    throw new Error([...texts].join("; "), { cause: error });
  }
}

serve(new Redlock5());
