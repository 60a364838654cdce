// An adapter of Lockstorm around the npm package `redlock`, version 4: docs/adapter-protocol.md.

import { Failed, patiently, serve, versionOf } from "../../sdk/node/lockstorm-adapter.mjs";
import { OnIoredis } from "../../sdk/node/ioredis.mjs";
import Redis from "ioredis";
import Redlock from "redlock";

const USUAL = new Redlock([null]);

/** One client of the lock. */
class Redlock4 extends OnIoredis {
  name = ["redlock", ...process.argv.slice(2)].join(" ");
  version = versionOf(import.meta.url, "redlock");
  can = ["wait"];
  promises = ["survives-minority"];

  open(client) {
    this.lease = client.lease;
    this.connect(Redis, client);
    // Each try may have to give back what it got, and so asks servers twice.
    const longestTry = 2 * client.patience + USUAL.retryDelay + USUAL.retryJitter;
    this.answersWithin = 10_000 + (1 + USUAL.retryCount) * longestTry;
  }

  async acquire(key, { wait }) {
    const ask = (retryCount) => this.told(this.redlock({ retryCount }).acquire(key, this.lease));
    return grantOf(await patiently(wait, USUAL, ask));
  }

  async renew(key, { lock }) {
    return grantOf(await this.told(this.redlock().extend(lock, this.lease)));
  }

  release(key, { lock }) {
    return this.told(lock.unlock());
  }

  /** Makes a Redlock that tells of errors of servers, and of what it takes back for being late. */
  redlock(options) {
    const redlock = new Redlock(this.clients, options);
    redlock.on("clientError", (error) => this.errors.add(error.message));
    redlock.unlock = (lock, after) => {
      // With `after` it is for a try that has failed.
      if (after && lock.expiration <= Date.now()) this.errors.add("a try outlasted its lease");
      return Redlock.prototype.unlock.call(redlock, lock, after);
    };
    return redlock;
  }

  /** What comes of a call; false where servers said no, which is no error of its own. */
  async told(call) {
    this.errors = new Set();
    try {
      return await call;
    } catch (error) {
      if (error.attempts === 0) throw new Failed(error.message);
      if (error.name === "LockError" && this.errors.size === 0) return false;
      throw new Error([error.message, ...this.errors].join("; "), { cause: error });
    }
  }
}

const grantOf = (lock) => lock && { lock, expires: lock.expiration, marks: [lock.value] };

serve(new Redlock4());
