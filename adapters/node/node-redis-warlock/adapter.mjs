// An adapter of Lockstorm around the npm package `node-redis-warlock`: docs/adapter-protocol.md.

import { Unsupported, serve, versionOf } from "../../sdk/node/lockstorm-adapter.mjs";
import { OnIoredis, overheard } from "../../sdk/node/ioredis.mjs";
import { createClient } from "redis";
import Redis from "ioredis";
import Warlock from "node-redis-warlock";

const [kind = "redis"] = process.argv.slice(2);
/** The servers for which each client is. */
const TOPOLOGIES = { redis: ["single"], ioredis: ["single", "replicated", "sentinel"] };

/** One client of the lock. */
class NodeRedisWarlock extends OnIoredis {
  name = ["node-redis-warlock", ...process.argv.slice(2)].join(" ");
  version = versionOf(import.meta.url, "node-redis-warlock");
  serverKey = "{key}:lock";

  open(client) {
    const { lease, topology, servers, patience } = client;
    if (!TOPOLOGIES[kind]?.includes(topology)) {
      throw new Unsupported(`it has no client of ${kind} for ${topology} servers`);
    }
    // A script may have to be loaded first.
    if (kind === "ioredis") this.answersWithin = 10_000 + 3 * patience;
    this.heard = kind === "redis" ? connected(servers[0]) : overheard(this.connect(Redis, client));
    this.warlock = Warlock(this.heard.clients[0]);
    this.lease = lease;
  }

  acquire(key) {
    const begun = performance.now();
    return new Promise((resolve, reject) => {
      this.warlock.lock(key, this.lease, (error, unlock, id) => {
        if (error) return reject(error);
        // The library does not say for how long: since the command was sent.
        const waited = this.heard.sent - begun;
        resolve(unlock && { lock: { unlock, id }, lease: this.lease, waited, marks: [id] });
      });
    });
  }

  async renew(key, { lock: { id } }) {
    return told(await this.warlock.touch(key, id, this.lease)) && { lease: this.lease };
  }

  release(key, { lock: { unlock } }) {
    return new Promise((resolve, reject) => {
      unlock((error, result) => (error ? reject(error) : resolve(result)));
    }).then(told);
  }
}

/** Makes a client of `redis`. What it is told while it is not connected it sends when it is. */
function connected({ host, port }) {
  const client = createClient({ host, port });
  const heard = { clients: [client], sent: 0 };
  client.on("connect", () => (heard.sent = performance.now()));
  client.on("error", ({ message }) => console.error(message));
  return heard;
}

/** What a script has told. The library tells nothing of most failures. */
function told(result) {
  if (result === undefined) throw new Error("it has failed, and the library does not tell why");
  return result !== 0;
}

serve(new NodeRedisWarlock());
