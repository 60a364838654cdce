// What adapters of redlock 5 and of its descendants have in common.

import { setTimeout as sleep } from "node:timers/promises";
import { Failed, Unsupported, lost, patiently, renewing } from "./lockstorm-adapter.mjs";
import { OnIoredis } from "./ioredis.mjs";

/** An adapter of a library with the interface of redlock 5. */
export class OnRedlock5 extends OnIoredis {
  can = ["wait", "watchdog"];
  promises = ["survives-minority", "keeps-alive", "tells-of-loss"];

  /**
   * @param {object} library Its classes `Redlock`, `ExecutionError` and `ResourceLockedError`, and
   *   `Redis` of ioredis, for its clients.
   */
  constructor(library) {
    super();
    this.library = library;
  }

  open(client) {
    const { Redis, Redlock } = this.library;
    ({ lease: this.lease, renewEvery: this.every } = client);
    this.redlock = new Redlock(this.connect(Redis, client));
    const { retryCount, retryDelay, retryJitter } = this.redlock.settings;
    // All tries, and a last one that gives back what they got.
    this.answersWithin = 10_000 + (retryCount + 2) * (client.patience + retryDelay + retryJitter);
  }

  acquire(key, { wait }) {
    const ask = (retryCount) => this.granted(this.take(key, { retryCount }));
    return patiently(wait, this.redlock.settings, ask);
  }

  take(key, settings) {
    if (this.every !== undefined) return this.use(key, settings);
    return this.redlock.acquire([key], this.lease, settings);
  }

  renew(key, { lock }) {
    if (this.every !== undefined) throw new Unsupported("`using` extends by itself");
    // Not by `lock.extend`, which in some has the retries that the lock was taken with.
    return this.granted(this.redlock.extend(lock, this.lease));
  }

  release(key, { lock }) {
    return this.told(lock.release());
  }

  /** Takes a lock by `using`, whose routine lasts until the lock is given back. */
  use(key, settings) {
    const { lease, every } = this;
    const redlock = this.announcing(key);
    // `using` extends so long before the end, which is the lease without the drift.
    const drift = Math.round(redlock.settings.driftFactor * lease) + 2;
    const automatic = { ...settings, automaticExtensionThreshold: lease - drift - every };
    return new Promise((resolve, reject) => {
      const routine = (signal) =>
        new Promise((end) => {
          const { value, expiration } = redlock.taken;
          const lock = { value, expiration, release: onceOnly(() => (end(), used)) };
          signal.addEventListener("abort", () => lost(key, { lock }));
          resolve(lock);
        });
      const used = redlock.using([key], lease, automatic, routine);
      used.catch(reject);
    });
  }

  /** Makes a Redlock for one lock, which keeps it as `taken`. Its extensions pass the harness. */
  announcing(key) {
    const redlock = new this.library.Redlock(this.clients);
    const [acquire, extend] = [redlock.acquire.bind(redlock), redlock.extend.bind(redlock)];
    const tell = (extension) => this.granted(extension);
    redlock.acquire = async (...asked) => (redlock.taken = await acquire(...asked));
    redlock.extend = async (lock, duration) => {
      const send = () => extend(lock, duration);
      const extended = await renewing(key, send, { skipped: undefined, tell });
      // The library sees later to what was left out, and knows when the lock ends.
      return extended ?? sleep(this.every, lock);
    };
    return redlock;
  }

  /** Tells what a lock is that was asked for or extended; false where servers said no. */
  async granted(call) {
    const lock = await this.told(call);
    return lock && { lock, expires: lock.expiration, marks: [lock.value] };
  }

  /**
   * Tells what comes of a call; false where servers said no. The library has one error for that and
   * for a failure: they differ in the votes of each try.
   */
  async told(call) {
    const { ExecutionError, ResourceLockedError } = this.library;
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
}

/** Makes a release that is refused after the first. */
function onceOnly(release) {
  let isOver = false;
  return async () => {
    if (isOver) throw new Failed("`using` has ended");
    isOver = true;
    return release();
  };
}
