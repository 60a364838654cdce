// An adapter of Lockstorm around the npm package `redis-semaphore`: docs/adapter-protocol.md.

import * as kit from "../../sdk/node/lockstorm-adapter.mjs";
import { OnIoredis, overheard } from "../../sdk/node/ioredis.mjs";
import Redis from "ioredis";
import { Mutex, RedlockMutex, Semaphore, MultiSemaphore } from "redis-semaphore";
import { RedlockSemaphore, RedlockMultiSemaphore } from "redis-semaphore";

const [kind = "mutex"] = process.argv.slice(2);
const [isRedlock, isSemaphore] = [kind.startsWith("redlock"), kind.endsWith("semaphore")];

/** Classes of the library by what they are called here: for one permit, and for several at once. */
const KINDS = {
  mutex: [Mutex],
  redlock: [RedlockMutex],
  semaphore: [Semaphore, MultiSemaphore],
  "redlock-semaphore": [RedlockSemaphore, RedlockMultiSemaphore],
};

/** One client of the lock. */
class RedisSemaphore extends OnIoredis {
  name = `redis-semaphore ${process.argv.slice(2).join(" ") || kind}`;
  version = kit.versionOf(import.meta.url, "redis-semaphore");
  can = ["wait", "watchdog", "cancel", "identity"];
  promises = ["keeps-alive", "tells-of-loss"];
  semaphore = isSemaphore;
  serverKey = isSemaphore ? "semaphore:{key}" : "mutex:{key}";

  open(client) {
    if (!(kind in KINDS)) {
      throw new kit.Unsupported(`the lock must be one of ${Object.keys(KINDS)}, and is ${kind}`);
    }
    const { length } = this.connect(Redis, client);
    if (length > 1 && !isRedlock) {
      throw new kit.Unsupported(`a ${kind} is on one server, and here are ${length}`);
    }
    if (isRedlock) this.promises.push("survives-minority");
    if (isSemaphore) this.promises.push("permits");
    const { lease: lockTimeout, renewEvery: refreshInterval = 0, identity: identifier } = client;
    this.options = { lockTimeout, refreshInterval, identifier };
    this.permits = client.permits;
    // A try may have to give back what it got, by a script that the server does not know yet.
    this.answersWithin = 10_000 + 3 * client.patience;
  }

  /** Makes an object of the library, with what is heard of it and what it means by a no. */
  make(key, permits, options) {
    const heard = overheard(this.clients);
    const servers = isRedlock ? heard.clients : heard.clients[0];
    const numbers = permits > 1 ? [this.permits, permits] : isSemaphore ? [this.permits] : [];
    const Lock = KINDS[kind][permits > 1 ? 1 : 0];
    const lock = new Lock(servers, key, ...numbers, { ...this.options, ...options });
    // One on several servers says no as well where it could not ask.
    const told = (yes) => yes || (heard.errors.size > 0 ? kit.UNKNOWN : false);
    return { lock, heard, told };
  }

  async acquire(key, { permits, wait, signal }) {
    const begun = performance.now();
    const limit = wait > 0 ? { acquireTimeout: wait } : { acquireAttemptsLimit: 1 };
    const onLockLost = () => kit.lost(key, { lock });
    const { lock, heard, told } = this.make(key, permits, { ...limit, onLockLost });
    const refresh = lock._refresh.bind(lock);
    lock._refresh = () => {
      heard.errors.clear();
      return kit.renewing(key, refresh, { permits, tell: (renewal) => renewal.then(told) });
    };
    if (!(await lock.tryAcquire(signal))) return told(false);
    // The library does not say for how long: since the try was sent that was granted.
    const lease = this.options.lockTimeout + heard.sent - begun;
    return { lock, lease, marks: [lock.identifier] };
  }

  /** Extends the lease as the library's documentation does: by another object of its identifier. */
  async renew(key, { permits, lock: { identifier, isAcquired } }) {
    if (!isAcquired) return false;
    const renewal = { identifier, acquiredExternally: true, refreshInterval: 0 };
    const { lock, told } = this.make(key, permits, renewal);
    return told(await lock.tryAcquire());
  }

  async release(key, { lock }) {
    if (!lock.isAcquired) return false;
    await lock.release();
    return kit.UNKNOWN;
  }
}

kit.serve(new RedisSemaphore());
