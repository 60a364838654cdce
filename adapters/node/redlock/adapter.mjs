// An adapter of Lockstorm around the npm package `redlock`: docs/adapter-protocol.md.
//
// The library is used as its documentation shows it, one ioredis client for each server. What is not
// its default: it tries once, because each try is an operation of the history and the harness repeats
// it; a server that does not answer in time is given up, and connections come from the address that
// the harness names, by which a faulty network knows whose they are.

import { createRequire } from "node:module";
import { createConnection } from "node:net";
import { createInterface } from "node:readline";
import Redis, { AbstractConnector } from "ioredis";
import Redlock from "redlock";

const PROTOCOL = 1;
const { version } = createRequire(import.meta.url)("redlock/package.json");

/** Connects from one address. */
const connectorFrom = (source) =>
  class extends AbstractConnector {
    constructor(options) {
      super(options.disconnectTimeout);
      this.options = options;
    }

    async connect() {
      const { host, port } = this.options;
      this.connecting = true;
      this.stream = createConnection({ host, port, localAddress: source });
      return this.stream;
    }
  };

/**
 * For how long the library says that a lock is good, counted from a time of the monotonic clock: what
 * has passed since, and what is left by the wall clock, which is the one that the library asks. Where
 * that clock is right, it is the same as from the one end to the other.
 */
const promised = (lock, begun) => {
  const passed = performance.now() - begun;
  return Math.max(0, Math.floor(passed + (lock.expiration - Date.now())));
};

/** One client of the lock. */
class Client {
  constructor(request) {
    this.lease = request.lease_ms;
    const clients = request.servers.map(({ address }) => {
      const [host, port] = address.split(":");
      const client = new Redis({
        host,
        port: Number(port),
        commandTimeout: request.reply_timeout_ms,
        Connector: connectorFrom(request.source),
      });
      // Each failed command says so itself; without a listener ioredis prints the errors.
      client.on("error", () => {});
      return client;
    });
    this.redlock = new Redlock(clients, { retryCount: 0 });
    /** Errors of servers since the last request. */
    this.errors = [];
    this.redlock.on("clientError", (error) => this.errors.push(error.message));
    /** What was granted, by key. */
    this.locks = new Map();
  }

  async acquire({ key }) {
    const begun = performance.now();
    try {
      const lock = await this.redlock.acquire(key, this.lease);
      this.locks.set(key, lock);
      return { is: "granted", lease_ms: promised(lock, begun), marks: [lock.value] };
    } catch (error) {
      // Where all servers have answered in time, they have said no.
      return this.said(error, "refused", performance.now() - begun < this.lease / 2);
    }
  }

  async renew({ key }) {
    const lock = this.locks.get(key);
    if (lock === undefined) return { is: "failed", text: "it was never granted" };
    if (lock.expiration < Date.now()) {
      // The library says so without asking a server.
      return { is: "failed", text: "the library says that the lock has expired" };
    }
    const begun = performance.now();
    try {
      await lock.extend(this.lease);
      return { is: "renewed", lease_ms: promised(lock, begun) };
    } catch (error) {
      return this.said(error, "not-owner", performance.now() - begun < this.lease / 2);
    }
  }

  async release({ key }) {
    const lock = this.locks.get(key);
    if (lock === undefined) return { is: "failed", text: "it was never granted" };
    let reply = { is: "released" };
    try {
      await lock.unlock();
    } catch (error) {
      reply = this.said(error, "not-owner", true);
    }
    // After an error it may be held still, and can be given back once more.
    if (reply.is !== "error") this.locks.delete(key);
    return reply;
  }

  /** The library has one error for a no and for a failure: they differ in what the servers did. */
  said(error, no, inTime) {
    if (error.name === "LockError" && this.errors.length === 0 && inTime) return { is: no };
    return { is: "error", text: [error.message, ...this.errors].join("; ") };
  }
}

const isPlain = ({ mode = "write", permits = 1 }) => mode === "write" && permits === 1;

async function answer(client, request) {
  switch (request.do) {
    case "acquire":
    case "renew":
    case "release":
      if (!isPlain(request)) {
        return { is: "unsupported", text: "redlock has one holder, who writes" };
      }
      client.errors.length = 0;
      return client[request.do](request);
    case "alive":
      // The library tells nobody that a lock has expired; it would have to be asked.
      return { is: client.locks.has(request.key) ? "held" : "not-owner" };
    case "touch":
      return { is: "done" };
    default:
      return { is: "unsupported", text: request.do };
  }
}

let client;
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let reply;
  if (request.do === "hello") {
    reply = { is: "hello", protocol: PROTOCOL, name: "redlock", version };
  } else if (request.do === "open" && ["cluster", "sentinel"].includes(request.topology)) {
    reply = { is: "unsupported", text: `this adapter has one client for each server, and follows no ${request.topology}` };
  } else if (request.do === "open") {
    client = new Client(request);
    reply = { is: "opened", can: ["source"] };
  } else if (request.do === "close") {
    reply = { is: "done" };
  } else if (client === undefined) {
    reply = { is: "unsupported", text: `${request.do} before open` };
  } else {
    reply = await answer(client, request);
  }
  process.stdout.write(`${JSON.stringify({ id: request.id, ...reply })}\n`);
  if (request.do === "close") break;
}
// Connections that reconnect would keep the process alive.
process.exit(0);
