// An adapter of Lockstorm around the npm package `redis-semaphore`: docs/adapter-protocol.md.

import * as kit from "../../sdk/node/lockstorm-adapter.mjs";
import { OnIoredis, overheard } from "../../sdk/node/ioredis.mjs";
import Redis from "ioredis";
import { Mutex, RedlockMutex, Semaphore } from "redis-semaphore";

const [kind = "mutex"] = process.argv.slice(2);

/** Makes an object of the library, by what it is called here. */
const KINDS = {
  mutex: ([client], key, options) => new Mutex(client, key, options),
  redlock: (clients, key, options) => new RedlockMutex(clients, key, options),
  semaphore: ([client], key, options) => new Semaphore(client, key, 1, options),
};

/** One client of the lock. */
class RedisSemaphore extends OnIoredis {
  name = `redis-semaphore ${process.argv.slice(2).join(" ") || kind}`;
  version = kit.versionOf(import.meta.url, "redis-semaphore");
  can = ["wait", "watchdog", "cancel", "identity"];
  promises = ["keeps-alive", "tells-of-loss", ...(kind === "redlock" ? ["survives-minority"] : [])];
  serverKey = kind === "semaphore" ? "semaphore:{key}" : "mutex:{key}";

  open(client) {
    if (!(kind in KINDS)) {
      throw new kit.Unsupported(`the lock must be one of ${Object.keys(KINDS)}, and is ${kind}`);
    }
    const { length } = this.connect(Redis, client);
    if (length > 1 && kind !== "redlock") {
      throw new kit.Unsupported(`a ${kind} is on one server, and here are ${length}`);
    }
    const { lease: lockTimeout, renewEvery: refreshInterval = 0, identity: identifier } = client;
    this.options = { lockTimeout, refreshInterval, identifier };
    // A try may have to give back what it got, by a script that the server does not know yet.
    this.answersWithin = 10_000 + 3 * client.patience;
  }

  /** Makes an object of the library, with what is heard of it and what it means by a no. */
  make(key, options) {
    const heard = overheard(this.clients);
    const lock = KINDS[kind](heard.clients, key, { ...this.options, ...options });
    // `RedlockMutex` says no as well where it could not ask.
    const told = (yes) => yes || (heard.errors.size > 0 ? kit.UNKNOWN : false);
    return { lock, heard, told };
  }

  async acquire(key, { wait, signal }) {
    const begun = performance.now();
    const limit = wait > 0 ? { acquireTimeout: wait } : { acquireAttemptsLimit: 1 };
    const onLockLost = () => kit.lost(key, { lock });
    const { lock, heard, told } = this.make(key, { ...limit, onLockLost });
    const refresh = lock._refresh.bind(lock);
    lock._refresh = () => {
      heard.errors.clear();
      return kit.renewing(key, refresh, { tell: (renewal) => renewal.then(told) });
    };
    if (!(await lock.tryAcquire(signal))) return told(false);
    // The library does not say for how long: since the try was sent that was granted.
    const lease = this.options.lockTimeout + heard.sent - begun;
    return { lock, lease, marks: [lock.identifier] };
  }

  /** Extends the lease as the library's documentation does: by another object of its identifier. */
  async renew(key, { lock: { identifier, isAcquired } }) {
    if (!isAcquired) return false;
    const renewal = { identifier, acquiredExternally: true, refreshInterval: 0 };
    const { lock, told } = this.make(key, renewal);
    return told(await lock.tryAcquire());
  }

  async release(key, { lock }) {
    if (!lock.isAcquired) return false;
    await lock.release();
    return kit.UNKNOWN;
  }
}

kit.serve(new RedisSemaphore());
