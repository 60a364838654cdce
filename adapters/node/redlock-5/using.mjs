// A lock that the library extends by itself.

import { setTimeout as sleep } from "node:timers/promises";
import { Failed, Unsupported, lost, renewing } from "../../sdk/node/lockstorm-adapter.mjs";
import Redlock from "redlock";

/** The library's `using` for one grant, whose routine lasts until the lock is given back. */
export class Using extends Redlock {
  /** `renewal` makes of an extension what the adapter answers to `renew`. */
  constructor(clients, { key, every, renewal }) {
    super(clients);
    Object.assign(this, { key, every, renewal });
  }

  async acquire(...asked) {
    this.granted = await super.acquire(...asked);
    return this.granted;
  }

  async extend(lock, duration) {
    const send = () => super.extend(lock, duration);
    const extended = await renewing(this.key, send, { skipped: undefined, tell: this.renewal });
    // The library sees later to what was left out, and knows when the lock ends.
    return extended ?? sleep(this.every, lock);
  }

  /** Takes the lock. What it returns is like a lock of the library's. */
  take(lease, settings) {
    // `using` extends so long before the end, which is the lease without the drift.
    const drift = Math.round(this.settings.driftFactor * lease) + 2;
    const automatic = { ...settings, automaticExtensionThreshold: lease - drift - this.every };
    return new Promise((resolve, reject) => {
      const routine = (signal) =>
        new Promise((end) => {
          const lock = new Lasting(this.granted, end, () => used);
          signal.addEventListener("abort", () => lost(this.key, { lock }));
          resolve(lock);
        });
      const used = this.using([this.key], lease, automatic, routine);
      used.catch(reject);
    });
  }
}

/** A lock that lasts as long as its routine. */
class Lasting {
  #end;
  #ended;

  constructor({ value, expiration }, end, ended) {
    Object.assign(this, { value, expiration });
    this.#end = end;
    this.#ended = ended;
  }

  async extend() {
    throw new Unsupported("`using` extends by itself");
  }

  async release() {
    if (this.#end === undefined) throw new Failed("`using` has ended");
    this.#end();
    this.#end = undefined;
    return this.#ended();
  }
}
