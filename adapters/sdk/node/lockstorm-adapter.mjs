// Everything of an adapter but the lock: docs/adapter-protocol.md.
//
// Make a subclass of `Adapter` that opens, takes and gives back the lock of your library, and call
// `serve` with it. What the library throws becomes the answer that is safe: an error, which says
// that nobody knows whether it had an effect. All times are in milliseconds.
//
// Import this file before your library: what is printed from then on goes to standard error.

import { createRequire } from "node:module";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

const PROTOCOL = 2;
/** Abilities that a harness of version 1 does not know. */
const SINCE_2 = ["cancel", "identity", "silent-watchdog", "always-renews"];
/** Most characters of an error's text: with more, a line could be too long for the protocol. */
const TEXT_MAX = 4000;
/** Exit code after input that is not of the protocol, as in sysexits.h. */
const EX_DATAERR = 65;

const write = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

/** The library says that the lock is not this client's. */
export class NotOwner extends Error {}

/** It certainly had no effect: the library or a server refused to do it. */
export class Failed extends Error {}

/** The library cannot do that at all. */
export class Unsupported extends Error {}

/**
 * The word of a library that does not tell. From `acquire`: it is refused, or could not ask. From
 * `renew`: it has failed, for whatever reason. From `release`: the client holds the lock no more,
 * and whether it did until then nobody knows.
 */
export const UNKNOWN = Symbol("unknown");

/**
 * A server.
 * @typedef {object} Server
 * @property {string} name Name in the scenario, such as `primary`.
 * @property {string} host
 * @property {number} port
 */

/**
 * What `open` says; what is absent there is undefined here.
 * @typedef {object} Client
 * @property {string} name
 * @property {number} [lease] Time to live of a grant; undefined for a lock that never expires.
 * @property {number} [renewEvery] Interval of the watchdog; undefined for no renewals.
 * @property {number} patience How long to wait for a server's reply.
 * @property {number} [nodeTimeout] Patience with one of several servers; undefined for the
 *   library's own.
 * @property {number} permits How many a semaphore has in all.
 * @property {string} [identity] Name by which the library is to call its owner.
 * @property {string} topology
 * @property {Server[]} servers Those that take writes.
 * @property {Server[]} nodes All of them.
 * @property {{master: string, sentinels: Server[], servers: Server[]}} [sentinels]
 * @property {number} seed
 * @property {object} request The request as it came.
 */

/**
 * How a lock is asked for.
 * @typedef {object} Ask
 * @property {"write" | "read"} mode
 * @property {number} permits
 * @property {number} wait How long to wait for the lock; 0 for one try.
 * @property {AbortSignal} signal Aborted when the request is given up.
 * @property {object} lock What came as `lock` with the last grant, given back or not. Without a
 *   grant, reading it fails the request.
 */

/**
 * What the library tells of a grant; all of it is optional.
 * @typedef {object} Grant
 * @property {object} [lock] The library's object for it, which `ask.lock` is from now on.
 * @property {number} [lease] How long the lock is good, counted from when the request was read or,
 *   beside `waited`, from when the try was sent that was granted.
 * @property {number} [waited] Time from the one to the other, at least.
 * @property {number} [expires] Instead of both: when the lock ends by the wall clock, as
 *   `Date.now()` counts, whatever that clock says in truth.
 * @property {"session-end"} [until] Instead of a lease: it goes with a session of the client's,
 *   which ends when nobody knows.
 * @property {number} [token] Fencing token.
 * @property {(string | Uint8Array)[]} [marks] By what servers know the holder.
 * @property {string[]} [by] Names of the servers that granted it.
 */

/**
 * One client of a library's lock. Its methods may throw the errors above, or any other.
 *
 * One that knows when it may be worth to ask again has two methods more: `awaitTurn(key, { pause,
 * within })`, which returns then, after `pause` where nothing tells and after `within` at the
 * latest; and `endWait(key, granted)`, called when nobody waits any more.
 */
export class Adapter {
  name = "a lock";
  version = "";
  /** Abilities in the protocol's words. `await` is added where there is `awaitTurn`. */
  can = [];
  /** Promises beyond those of every lock: `lockstorm list promises`. */
  promises = [];
  /** Promises that every lock makes, and this library does not. */
  denies = [];
  /** Longest time that the library takes to answer, all its tries included. */
  answersWithin = undefined;
  /** The key at which a server keeps the lock, such as `lock:{key}`. */
  serverKey = undefined;
  /** True if there are locks that never expire. If not, a client has to have a lease. */
  everlasting = false;
  /** True if there are readers. If not, all of them are told so without a call. */
  readers = false;
  /** True if there are several permits. If not, who asks for them is told so without a call. */
  semaphore = false;

  /**
   * Makes ready to be this client. May still set the properties above.
   * @param {Client} client
   */
  async open(client) {}

  /**
   * Asks once or, where `can` has `wait`, for as long as `ask.wait` says. False is a refusal.
   * @param {string} key
   * @param {Ask} ask
   * @returns {Promise<boolean | Grant | UNKNOWN>}
   */
  async acquire(key, ask) {
    throw new Unsupported("its adapter cannot acquire");
  }

  /**
   * Extends the lease. False says that the client is not the owner.
   * @param {string} key
   * @param {Ask} ask
   * @returns {Promise<boolean | Grant | UNKNOWN | void>}
   */
  async renew(key, ask) {
    throw new Unsupported("it does not renew when asked to");
  }

  /**
   * Gives the lock back. False says that the client is not the owner, a number how often it holds
   * the lock still; whatever else the library returns is a success.
   * @param {string} key
   * @param {Ask} ask
   * @returns {Promise<false | number | UNKNOWN | any>}
   */
  async release(key, ask) {
    throw new Unsupported("its adapter cannot release");
  }

  /**
   * Tells whether the client goes on as the holder, without asking a server. It does from a grant
   * until a release or a loss, unless this is overridden.
   * @param {string} key
   * @param {Ask} ask
   * @returns {boolean | "suspended" | Promise<boolean | "suspended">}
   */
  alive(key, { mode }) {
    const hold = holds.get(placeOf(key, mode));
    return hold?.isSuspended ? "suspended" : hold !== undefined;
  }

  /**
   * Comes before the client changes what the lock guards.
   * @param {string} key
   */
  async touch(key) {}

  /**
   * Sends writes to these servers from now on.
   * @param {Server[]} servers
   */
  async follow(servers) {
    throw new Unsupported("it stays with its servers");
  }
}

/**
 * The version of a library that is installed beside its adapter.
 * @param {string} adapter `import.meta.url` of the adapter.
 * @param {string} library
 * @returns {string}
 */
export const versionOf = (adapter, library) =>
  createRequire(adapter)(`./node_modules/${library}/package.json`).version.replace(/^v/, "");

/** What the client holds, by its place: how often, and whether the library is unsure of it. */
const holds = new Map();
/** The library's objects, by their place. */
const locks = new Map();
/** Those who wait for the harness's word on a renewal, by its number. */
const waiting = new Map();
let renewals = 0;
/** The last request that was read, and when; nothing before the first. */
let heard;

const placeOf = (key, mode = "write") => JSON.stringify([key, mode]);

/** Writes one line with one call, so that no two are ever mixed. */
const say = (message) => write(`${JSON.stringify(message)}\n`);

/** The present moment as the harness can know it: after which request, and how long after. */
const now = () =>
  heard && { after: heard.id, after_us: Math.floor((performance.now() - heard.read) * 1000) };

/**
 * Says that the library calls the lock lost; nothing, if the client does not hold it anyway.
 * @param {string} key
 * @param {object} [more]
 * @param {"write" | "read"} [more.mode]
 * @param {object} [more.lock] The object that is lost, if it is not to be mistaken for a later one.
 */
export function lost(key, { mode = "write", lock } = {}) {
  const when = now();
  const place = placeOf(key, mode);
  if (lock !== undefined && locks.get(place) !== lock) return;
  if (holds.delete(place)) say({ note: "lost", key, mode, ...when });
}

/** Says that the library does not know whether the lock is held. */
export function suspended(key, mode = "write") {
  const when = now();
  const hold = holds.get(placeOf(key, mode));
  if (hold) hold.isSuspended = true;
  say({ note: "suspended", key, mode, ...when });
}

/** Says that the library knows again: the lock was held all the time. */
export function resumed(key, mode = "write") {
  const when = now();
  const hold = holds.get(placeOf(key, mode));
  if (hold) hold.isSuspended = false;
  say({ note: "resumed", key, mode, ...when });
}

/** Says, while the lock is asked for, that the client has taken a place in its queue. */
export const queued = (key) => say({ note: "queued", key });

/**
 * Says that commands go to another server from here on, or over a new connection.
 * @param {{to: string, from?: string, why?: string}} route With the names of servers.
 */
export const routed = ({ to, from, why }) => say({ note: "routed", to, from, why });

/**
 * Lets a renewal of the library's own watchdog pass: announces it, waits for the harness's word,
 * and sends it or leaves it out. Put it around the library's renewing method.
 *
 * @template T
 * @param {string} key
 * @param {() => Promise<T>} send The library's renewal.
 * @param {object} [more]
 * @param {T} [more.skipped] What the library is told when it was left out, so that it goes on
 *   believing; true unless given.
 * @param {(renewal: Promise<T>) => unknown} [more.tell] Makes of the library's renewal what `renew`
 *   of an adapter returns or throws; not needed where it is that already.
 * @param {"write" | "read"} [more.mode]
 * @param {number} [more.permits]
 * @returns {Promise<T>} What the library's renewal returns or throws.
 */
export async function renewing(key, send, more = {}) {
  const usual = { skipped: true, tell: (renewal) => renewal, mode: "write", permits: 1 };
  const { skipped, tell, mode, permits } = { ...usual, ...more };
  const number = ++renewals;
  const word = new Promise((resolve) => waiting.set(number, resolve));
  say({ note: "renewing", number, key, mode, permits });
  if ((await word) === "skip") return skipped;
  const read = performance.now();
  const renewal = (async () => send())();
  const call = async () => renewed(await tell(renewal), read);
  // Whether the hold is lost its owner learns by `lost`, and from nothing else.
  const outcome = await answerOf(call);
  // The note has no word for what a library cannot do. That had no effect either.
  if (outcome.is === "unsupported") outcome.is = "failed";
  say({ note: "renewed", number, outcome });
  return renewal;
}

/**
 * Asks until the lock is granted or `wait` is over, by the retries of a library that counts them
 * instead of looking at a clock. What fails is asked again, as such libraries do.
 *
 * @template T
 * @param {number} wait
 * @param {{retryCount: number, retryDelay: number}} usual The library's retries, unless it is told
 *   otherwise, and its pause before each.
 * @param {(retryCount: number) => Promise<T>} call Asks, with so many retries at most.
 * @returns {Promise<T>} What the last call returns. Throws, if it is not granted, what the first
 *   call threw that did: that may have had an effect.
 */
export async function patiently(wait, { retryCount, retryDelay }, call) {
  const end = performance.now() + wait;
  const failures = [];
  for (;;) {
    const left = Math.max(0, end - performance.now());
    const retries = Math.min(retryCount, Math.floor(left / retryDelay));
    const said = await call(retries).catch((error) => void failures.push(error));
    if (said) return said;
    if (performance.now() + retryDelay > end) {
      if (failures.length > 0) throw failures[0];
      return said;
    }
    await sleep(retryDelay);
  }
}

/**
 * Answers requests until the harness closes. Then the process ends, whatever the library has left.
 * @param {Adapter} adapter
 */
export async function serve(adapter) {
  const session = new Session(adapter);
  let number = 0;
  for await (const line of linesOf(process.stdin)) {
    const read = performance.now();
    number += 1;
    const message = messageOf(line, number);
    // Not waited for: a word on a renewal and a `cancel` are heard while a request is under way.
    if ("id" in message) {
      heard = { id: message.id, read };
      session.hear(message);
    } else decide(message);
  }
  process.exit(0);
}

/** Lines that end with a newline: `readline` of Node 24 ends one at U+2028 too, within JSON. */
async function* linesOf(input) {
  let rest = "";
  for await (const chunk of input.setEncoding("utf8")) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    yield* lines;
  }
}

/** The message of a line. If there is none, nobody could be answered, and the process ends. */
function messageOf(line, number) {
  try {
    const message = JSON.parse(line);
    const isRequest = Number.isInteger(message.id) && typeof message.do === "string";
    if (isRequest || Number.isInteger(message.go ?? message.skip)) return message;
  } catch {
    // Told below.
  }
  const wanted = 'a JSON object with a number "id" and a text "do", or a number "go" or "skip"';
  console.error(`line ${number} of standard input must be ${wanted}, and is: ${clipped(line)}`);
  return process.exit(EX_DATAERR);
}

/** Hands on the harness's word on a renewal. */
function decide({ go, skip }) {
  const number = go ?? skip;
  waiting.get(number)?.(go === undefined ? "skip" : "go");
  waiting.delete(number);
}

/** What an adapter and the harness have said to each other. */
class Session {
  #adapter;
  #protocol = PROTOCOL;
  #isOpen = false;
  /** What gives up each request that is under way, by its number. */
  #underWay = new Map();

  constructor(adapter) {
    this.#adapter = adapter;
  }

  /** Answers a request as soon as it is done. */
  async hear(request) {
    const abort = new AbortController();
    this.#underWay.set(request.id, abort);
    const call = () => this.#carryOut(request, abort.signal);
    const answer = await answerOf(call, placeOf(request.key, request.mode), abort.signal);
    this.#underWay.delete(request.id);
    say({ id: request.id, ...answer });
    if (request.do === "close") process.exit(0);
  }

  async #carryOut(request, signal) {
    const word = request.do;
    if (word === "hello") return this.#hello(request);
    if (word === "open") return this.#open(request);
    if (word === "close") return { is: "done" };
    if (!this.#isOpen) throw new Failed(`'${word}' came before 'open'`);
    if (word === "cancel") return this.#cancel(request);
    if (["acquire", "renew", "release", "alive"].includes(word)) return this.#ask(request, signal);
    return this.#tell(request);
  }

  #hello({ protocol }) {
    if (!(Number.isInteger(protocol) && protocol > 0)) {
      throw new Failed(`protocol must be a whole number from 1, and is ${shown(protocol)}`);
    }
    this.#protocol = Math.min(PROTOCOL, protocol);
    const { name, version } = this.#adapter;
    return { is: "hello", protocol: this.#protocol, name, version };
  }

  async #open(request) {
    const adapter = this.#adapter;
    const client = clientOf(request);
    if (client.lease === undefined && !adapter.everlasting) {
      throw new Unsupported("it has no locks that never expire");
    }
    if (client.identity !== undefined && !adapter.can.includes("identity")) {
      throw new Unsupported("it calls the owner of a lock by a name of its own");
    }
    await adapter.open(client);
    this.#isOpen = true;
    const can = adapter.awaitTurn ? [...adapter.can, "await"] : adapter.can;
    return {
      is: "opened",
      can: can.filter((word) => this.#protocol > 1 || !SINCE_2.includes(word)),
      promises: adapter.promises,
      denies: adapter.denies,
      answers_within_ms: adapter.answersWithin && Math.ceil(adapter.answersWithin),
      server_key: adapter.serverKey,
    };
  }

  #cancel({ request }) {
    if (!this.#adapter.can.includes("cancel")) throw new Unsupported("it gives no request up");
    this.#underWay.get(request)?.abort();
    return { is: "done" };
  }

  /** What concerns a lock that is asked for or held. */
  async #ask(request, signal) {
    const read = performance.now();
    const adapter = this.#adapter;
    const { do: word, key, mode = "write", permits = 1 } = request;
    if (typeof key !== "string") throw new Failed(`key must be a text, and is ${shown(key)}`);
    if (mode !== "write" && !adapter.readers) throw new Unsupported("it has no readers");
    if (permits !== 1 && !adapter.semaphore) throw new Unsupported("it has one permit");
    const wait = (adapter.can.includes("wait") && request.wait_ms) || 0;
    const place = placeOf(key, mode);
    const said = await adapter[word](key, {
      mode,
      permits,
      wait,
      signal,
      get lock() {
        if (locks.has(place)) return locks.get(place);
        throw new Failed("it was never granted this lock");
      },
    });
    if (said?.lock !== undefined) locks.set(place, said.lock);
    if (word === "acquire") return granted(said, read, place);
    if (word === "renew") return renewed(said, read);
    if (word === "release") return released(said, place);
    return { is: said === "suspended" ? said : said ? "held" : "not-owner" };
  }

  /** What has nothing to answer but that it is done. */
  async #tell(request) {
    const adapter = this.#adapter;
    const { do: word, key, granted, pause_us: pause, within_us: within } = request;
    if (word === "touch") await adapter.touch(key);
    else if (word === "servers") await adapter.follow(serversOf(request, "servers"));
    else if (word === "await" && adapter.awaitTurn) {
      await adapter.awaitTurn(key, { pause: pause / 1000, within: within / 1000 });
    } else if (word === "end-wait" && adapter.awaitTurn) await adapter.endWait?.(key, granted);
    else throw new Unsupported(`it does not know '${word}'`);
    return { is: "done" };
  }
}

/** The answer to which a call comes, whatever it throws. */
async function answerOf(call, place, signal) {
  try {
    return await call();
  } catch (error) {
    if (error instanceof NotOwner) {
      holds.delete(place);
      return { is: "not-owner" };
    }
    if (error instanceof Failed) return { is: "failed", text: clipped(error.message) };
    if (error instanceof Unsupported) return { is: "unsupported", text: clipped(error.message) };
    if (signal?.aborted) return { is: "cancelled" };
    return { is: "error", text: clipped(String(error)) };
  }
}

function granted(said, read, place) {
  if (said === UNKNOWN) return { is: "refused", reason: "unknown" };
  if (!said) return { is: "refused" };
  const { token, marks, by, until } = said;
  if (token !== undefined && !Number.isSafeInteger(token)) {
    throw new TypeError(`a fencing token must be a whole number, and is ${shown(token)}`);
  }
  holds.set(place, { count: (holds.get(place)?.count ?? 0) + 1, isSuspended: false });
  return { is: "granted", ...validity(said, read), token, marks: marks?.map(markOf), by, until };
}

function renewed(said, read) {
  if (said === UNKNOWN) throw new Error("the library does not tell why it has failed");
  if (said === false) throw new NotOwner();
  return { is: "renewed", lease_ms: validity(said ?? {}, read).lease_ms };
}

function released(said, place) {
  if (said === false) throw new NotOwner();
  const told = typeof said === "number" ? said : undefined;
  const count = told ?? (holds.get(place)?.count ?? 1) - 1;
  if (count > 0) holds.set(place, { count, isSuspended: false });
  else holds.delete(place);
  return { is: "released", count: told, ownership: said === UNKNOWN ? "unknown" : undefined };
}

/** For how long a lock is good, as the protocol counts it: from when the request was read. */
function validity({ lease, waited, expires }, read) {
  if (expires !== undefined) lease = performance.now() - read + expires - Date.now();
  return { lease_ms: whole(lease), waited_ms: whole(waited) };
}

/** Whole milliseconds, rounded so that they promise no more. */
const whole = (time) => (time === undefined ? undefined : Math.max(0, Math.floor(time)));

const markOf = (mark) =>
  typeof mark === "string" ? mark : { base64: Buffer.from(mark).toString("base64") };

/** @returns {Client} */
function clientOf(request) {
  const { client, topology, seed, sentinels } = request;
  const patience = timeOf(request, "reply_timeout_ms");
  if (patience === undefined) throw new Failed("reply_timeout_ms must be there");
  return {
    name: client,
    lease: timeOf(request, "lease_ms"),
    renewEvery: timeOf(request, "renew_every_ms"),
    patience,
    nodeTimeout: timeOf(request, "node_timeout_ms"),
    permits: request.permits ?? 1,
    identity: request.identity ?? undefined,
    topology,
    servers: serversOf(request, "servers"),
    nodes: serversOf(request, "nodes"),
    sentinels: sentinels && {
      master: sentinels.master,
      sentinels: serversOf(sentinels, "sentinels"),
      servers: serversOf(sentinels, "servers"),
    },
    seed,
    request,
  };
}

function timeOf(request, field) {
  const time = request[field] ?? undefined;
  if (time === undefined || (Number.isInteger(time) && time > 0)) return time;
  throw new Failed(`${field} must be a whole number from 1, and is ${shown(time)}`);
}

/** @returns {Server[]} */
function serversOf(request, field) {
  const servers = request[field] ?? [];
  if (!Array.isArray(servers))
    throw new Failed(`${field} must be a list, and is ${shown(servers)}`);
  return servers.map((server) => {
    const [, host, port] = /^\[?(.+?)\]?:(\d+)$/.exec(server?.address) ?? [];
    if (host !== undefined) return { name: server.name, host, port: Number(port) };
    throw new Failed(`${field} must each have an address, ip:port, and one is ${shown(server)}`);
  });
}

const shown = (value) => (value === undefined ? "absent" : clipped(JSON.stringify(value)));

const clipped = (text) => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)} ...` : text);
