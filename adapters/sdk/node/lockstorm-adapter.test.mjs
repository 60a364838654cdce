// Each test starts an adapter as the harness does, and talks to it over pipes.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";

const KIT = new URL("lockstorm-adapter.mjs", import.meta.url);
const OPEN = {
  do: "open",
  client: "a",
  lease_ms: 2000,
  reply_timeout_ms: 500,
  topology: "single",
  servers: [{ name: "primary", address: "127.0.0.1:6379" }],
  nodes: [{ name: "primary", address: "127.0.0.1:6379" }],
  seed: 7,
};

/** A running adapter, whose class has these members, and the other end of its pipes. */
class Peer {
  #id = 0;

  constructor(members) {
    const source = `import * as kit from "${KIT}";
      import { setTimeout as sleep } from "node:timers/promises";
      kit.serve(new (class extends kit.Adapter { ${members} })());`;
    this.process = spawn(process.execPath, ["--input-type=module", "-e", source]);
    this.ended = once(this.process, "close").then(([code]) => code);
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    this.errors = "";
    this.process.stderr.setEncoding("utf8").on("data", (text) => (this.errors += text));
  }

  write(line) {
    this.process.stdin.write(`${line}\n`);
  }

  /** Sends a request and gives its number. */
  send(request) {
    this.#id += 1;
    this.write(JSON.stringify({ id: this.#id, ...request }));
    return this.#id;
  }

  /** The next line that the adapter writes. */
  async heard() {
    return JSON.parse((await this.lines.next()).value);
  }

  /** The answer to a request, where nothing else is written before it. */
  async ask(request) {
    const id = this.send(request);
    const { id: answered, ...answer } = await this.heard();
    assert.equal(answered, id);
    return answer;
  }

  /** Says hello, opens, and gives what `opened` says. */
  async open(more = {}, protocol = 2) {
    await this.ask({ do: "hello", protocol });
    return this.ask({ ...OPEN, ...more });
  }

  async close() {
    assert.deepEqual(await this.ask({ do: "close" }), { is: "done" });
    assert.equal(await this.ended, 0);
  }
}

/** A test with an adapter of these members, closed at the end. */
const withAdapter = (name, members, talk) =>
  test(name, { timeout: 20_000 }, async (context) => {
    const peer = new Peer(members);
    context.after(() => peer.process.kill("SIGKILL"));
    await talk(peer);
  });

withAdapter(
  "says who it is, in the smaller version",
  'name = "mine"; version = "1.2"',
  async (peer) => {
    const who = { is: "hello", name: "mine", version: "1.2" };
    assert.deepEqual(await peer.ask({ do: "hello", protocol: 3 }), { ...who, protocol: 2 });
    assert.deepEqual(await peer.ask({ do: "hello", protocol: 1 }), { ...who, protocol: 1 });
    const { is, text } = await peer.ask({ do: "hello", protocol: "two" });
    assert.deepEqual(
      [is, text],
      ["failed", 'protocol must be a whole number from 1, and is "two"'],
    );
    await peer.close();
  },
);

withAdapter(
  "derives what it can from what it has",
  `can = ["wait", "cancel"]; promises = ["fenced"]; serverKey = "l:{key}"; answersWithin = 99.5;
   awaitTurn() {}`,
  async (peer) => {
    assert.deepEqual(await peer.open(), {
      is: "opened",
      can: ["wait", "cancel", "await"],
      promises: ["fenced"],
      denies: [],
      answers_within_ms: 100,
      server_key: "l:{key}",
    });
    // A harness of version 1 does not know `cancel`.
    assert.deepEqual((await peer.open({}, 1)).can, ["wait", "await"]);
  },
);

withAdapter(
  "hands on what open says",
  'can = ["identity"]; open(client) { throw new kit.Failed(JSON.stringify(client)) }',
  async (peer) => {
    const address = "[::1]:7000";
    const sentinels = { master: "m", sentinels: [{ name: "s", address }], servers: [] };
    const { text } = await peer.open({ renew_every_ms: 100, identity: "me", sentinels });
    const { request, ...client } = JSON.parse(text);
    assert.equal(request.do, "open");
    assert.deepEqual(client, {
      name: "a",
      lease: 2000,
      renewEvery: 100,
      patience: 500,
      permits: 1,
      identity: "me",
      topology: "single",
      servers: [{ name: "primary", host: "127.0.0.1", port: 6379 }],
      nodes: [{ name: "primary", host: "127.0.0.1", port: 6379 }],
      sentinels: { master: "m", sentinels: [{ name: "s", host: "::1", port: 7000 }], servers: [] },
      seed: 7,
    });
  },
);

withAdapter("says what is wrong with open", "", async (peer) => {
  const texts = [
    [{ lease_ms: -1 }, "failed", "lease_ms must be a whole number from 1, and is -1"],
    [{ lease_ms: undefined }, "unsupported", "it has no locks that never expire"],
    [{ identity: "me" }, "unsupported", "it calls the owner of a lock by a name of its own"],
    [{ servers: "all" }, "failed", 'servers must be a list, and is "all"'],
    [
      { nodes: [{ address: "here" }] },
      "failed",
      'nodes must each have an address, ip:port, and one is {"address":"here"}',
    ],
  ];
  for (const [more, is, text] of texts) assert.deepEqual(await peer.open(more), { is, text });
  const early = await peer.ask({ do: "acquire", key: "k" });
  assert.deepEqual(early, { is: "failed", text: "'acquire' came before 'open'" });
  await peer.close();
});

withAdapter(
  "answers as the library says",
  `async acquire(key) {
     switch (key) {
       case "free": return true;
       case "taken": return false;
       case "silent": return kit.UNKNOWN;
       case "told": {
         const marks = ["m", Buffer.from([255])];
         return { token: 3, waited: 5.9, lease: 100.9, by: ["n1"], marks };
       }
       case "of a session": return { until: "session-end" };
       case "odd": return { token: 1.5 };
     }
     throw new RangeError("no server");
   }
   async renew(key) {
     if (key === "free") return { lease: 50 };
     return key === "silent" ? kit.UNKNOWN : key === "told" ? undefined : false;
   }
   async release(key) {
     if (key === "taken") throw new kit.NotOwner();
     if (key === "odd") throw new kit.Failed("no such lock");
     return { silent: kit.UNKNOWN, told: 2 }[key];
   }`,
  async (peer) => {
    await peer.open();
    const expected = [
      ["acquire", "free", { is: "granted" }],
      ["acquire", "taken", { is: "refused" }],
      ["acquire", "of a session", { is: "granted", until: "session-end" }],
      ["acquire", "silent", { is: "refused", reason: "unknown" }],
      [
        "acquire",
        "told",
        {
          is: "granted",
          lease_ms: 100,
          waited_ms: 5,
          token: 3,
          marks: ["m", { base64: "/w==" }],
          by: ["n1"],
        },
      ],
      [
        "acquire",
        "odd",
        { is: "error", text: "TypeError: a fencing token must be a whole number, and is 1.5" },
      ],
      ["acquire", "else", { is: "error", text: "RangeError: no server" }],
      ["renew", "free", { is: "renewed", lease_ms: 50 }],
      ["renew", "told", { is: "renewed" }],
      ["renew", "taken", { is: "not-owner" }],
      [
        "renew",
        "silent",
        { is: "error", text: "Error: the library does not tell why it has failed" },
      ],
      ["release", "free", { is: "released" }],
      ["release", "taken", { is: "not-owner" }],
      ["release", "odd", { is: "failed", text: "no such lock" }],
      ["release", "silent", { is: "released", ownership: "unknown" }],
      ["release", "told", { is: "released", count: 2 }],
    ];
    for (const [word, key, answer] of expected) {
      assert.deepEqual(await peer.ask({ do: word, key }), answer, `${word} ${key}`);
    }
    assert.deepEqual(await peer.ask({ do: "touch", key: "free" }), { is: "done" });
    for (const [request, text] of [
      [{ do: "servers", servers: [] }, "it stays with its servers"],
      [{ do: "await", key: "free" }, "it does not know 'await'"],
      [{ do: "dance" }, "it does not know 'dance'"],
      [{ do: "cancel", request: 1 }, "it gives no request up"],
      [{ do: "acquire", key: "free", mode: "read" }, "it has no readers"],
      [{ do: "acquire", key: "free", permits: 2 }, "it has one permit"],
    ]) {
      assert.deepEqual(await peer.ask(request), { is: "unsupported", text });
    }
    const keyless = await peer.ask({ do: "acquire" });
    assert.deepEqual(keyless, { is: "failed", text: "key must be a text, and is absent" });
    await peer.close();
  },
);

withAdapter(
  "knows what is held",
  `readers = true;
   async acquire(key) { return true; }
   async renew(key) { return false; }
   async release(key) {}
   async touch(key) { kit[key]("k"); }`,
  async (peer) => {
    await peer.open();
    const alive = async (mode) => (await peer.ask({ do: "alive", key: "k", mode })).is;
    const note = async (word) => {
      const id = peer.send({ do: "touch", key: word });
      const { after_us: _, ...said } = await peer.heard();
      assert.deepEqual(said, { note: word, key: "k", mode: "write", after: id });
      assert.deepEqual(await peer.heard(), { id, is: "done" });
    };
    assert.equal(await alive(), "not-owner");
    await peer.ask({ do: "acquire", key: "k" });
    await peer.ask({ do: "acquire", key: "k" });
    assert.deepEqual([await alive("write"), await alive("read")], ["held", "not-owner"]);
    await peer.ask({ do: "release", key: "k" });
    assert.equal(await alive(), "held");
    await note("suspended");
    assert.equal(await alive(), "suspended");
    await note("resumed");
    assert.equal(await alive(), "held");
    await note("lost");
    assert.equal(await alive(), "not-owner");
    // What is not held cannot be lost.
    assert.deepEqual(await peer.ask({ do: "touch", key: "lost" }), { is: "done" });
    await peer.ask({ do: "acquire", key: "k" });
    await peer.ask({ do: "renew", key: "k" });
    assert.equal(await alive(), "not-owner");
  },
);

withAdapter(
  "says how long after a request something was told",
  `early = kit.suspended("early");
   async acquire(key) { return true; }
   async renew(key) {
     await sleep(50);
     kit.suspended(key);
     kit.resumed(key);
   }
   async touch(key) {
     setTimeout(async () => {
       await kit.renewing(key, () => true);
       kit.lost(key);
     }, 50);
   }`,
  async (peer) => {
    // Before the first request there is nothing to count from.
    assert.deepEqual(await peer.heard(), { note: "suspended", key: "early", mode: "write" });
    await peer.open();
    await peer.ask({ do: "acquire", key: "k" });
    const told = async (word, after, begun) => {
      const { after_us: us, ...said } = await peer.heard();
      assert.deepEqual(said, { note: word, key: "k", mode: "write", after });
      const elapsed = (performance.now() - begun) * 1000;
      assert.ok(Number.isInteger(us) && us >= 40_000 && us < elapsed, `${us} of ${elapsed}`);
    };
    let begun = performance.now();
    const renew = peer.send({ do: "renew", key: "k" });
    await told("suspended", renew, begun);
    await told("resumed", renew, begun);
    await peer.heard();
    begun = performance.now();
    const touch = peer.send({ do: "touch", key: "k" });
    assert.equal((await peer.heard()).id, touch);
    await peer.heard();
    // It is no request.
    peer.write('{"go":1}');
    await peer.heard();
    await told("lost", touch, begun);
  },
);

withAdapter(
  "hands the library's object back",
  `async acquire() { return { lock: { n: 1 } }; }
   async renew(key, { lock }) { return { lock: { n: lock.n + 1 } }; }
   async release(key, { lock }) { return lock.n; }`,
  async (peer) => {
    await peer.open();
    const stranger = await peer.ask({ do: "release", key: "k" });
    assert.deepEqual(stranger, { is: "failed", text: "it was never granted this lock" });
    await peer.ask({ do: "acquire", key: "k" });
    await peer.ask({ do: "renew", key: "k" });
    assert.equal((await peer.ask({ do: "release", key: "k" })).count, 2);
  },
);

withAdapter(
  "counts an end by the wall clock from when the request was read",
  `async acquire(key) {
     await sleep(300);
     return { expires: Date.now() + (key === "over" ? -400 : 1000) };
   }`,
  async (peer) => {
    await peer.open();
    const { lease_ms: lease } = await peer.ask({ do: "acquire", key: "k" });
    assert.ok(lease >= 1290 && lease < 2000, `${lease}`);
    const { lease_ms: over } = await peer.ask({ do: "acquire", key: "over" });
    assert.ok(over < 200, `${over}`);
  },
);

withAdapter(
  "gives a request up, and goes on",
  `can = ["cancel"];
   acquire(key, { signal }) {
     if (key === "free") return true;
     return new Promise((granted, refused) => {
       const end = key === "late" ? () => granted(true) : () => refused(signal.reason);
       signal.addEventListener("abort", end);
     });
   }`,
  async (peer) => {
    await peer.open();
    for (const [key, answer] of [
      ["held", { is: "cancelled" }],
      ["late", { is: "granted" }],
    ]) {
      const request = peer.send({ do: "acquire", key });
      const id = peer.send({ do: "cancel", request });
      const heard = [await peer.heard(), await peer.heard()].sort((a, b) => a.id - b.id);
      assert.deepEqual(heard, [
        { id: request, ...answer },
        { id, is: "done" },
      ]);
    }
    // What has been answered is not given up any more.
    assert.deepEqual(await peer.ask({ do: "cancel", request: 3 }), { is: "done" });
    assert.deepEqual(await peer.ask({ do: "acquire", key: "free" }), { is: "granted" });
  },
);

withAdapter(
  "lets renewals of a watchdog pass while a request is under way",
  `can = ["watchdog"];
   async acquire() { return true; }
   async touch() {
     const said = [];
     const fails = async () => { throw new Error("no reply"); };
     for (const renewal of [async () => true, async () => false, fails]) {
       said.push(await kit.renewing("k", renewal).catch((error) => error.message));
     }
     said.push(await kit.renewing("k", fails, { skipped: "believes" }));
     throw new Error(JSON.stringify(said));
   }`,
  async (peer) => {
    await peer.open();
    await peer.ask({ do: "acquire", key: "k" });
    const id = peer.send({ do: "touch", key: "k" });
    const outcomes = [
      { is: "renewed" },
      { is: "not-owner" },
      { is: "error", text: "Error: no reply" },
    ];
    for (const [n, outcome] of outcomes.entries()) {
      const number = n + 1;
      const announced = { note: "renewing", number, key: "k", mode: "write", permits: 1 };
      assert.deepEqual(await peer.heard(), announced);
      // Other requests are answered meanwhile.
      if (n === 0) assert.deepEqual(await peer.ask({ do: "alive", key: "k" }), { is: "held" });
      peer.write(JSON.stringify({ go: number }));
      assert.deepEqual(await peer.heard(), { note: "renewed", number, outcome });
    }
    assert.equal((await peer.heard()).number, 4);
    peer.write('{"skip":4}');
    const text = 'Error: [true,false,"no reply","believes"]';
    assert.deepEqual(await peer.heard(), { id, is: "error", text });
  },
);

withAdapter(
  "tells by words of its own what a renewal came to",
  `async touch(key) {
     const tell = async (renewal) => { await renewal; throw new kit.Failed("too late"); };
     const back = await kit.renewing(key, () => "theirs", { tell });
     if (back !== "theirs") throw new Error(back);
   }`,
  async (peer) => {
    await peer.open();
    const id = peer.send({ do: "touch", key: "k" });
    await peer.heard();
    peer.write('{"go":1}');
    const outcome = { is: "failed", text: "too late" };
    assert.deepEqual(await peer.heard(), { note: "renewed", number: 1, outcome });
    assert.deepEqual(await peer.heard(), { id, is: "done" });
  },
);

withAdapter(
  "asks again as often as the time allows",
  `can = ["wait"];
   async acquire(key, { wait }) {
     const asked = [];
     const call = async (retries) => {
       asked.push(retries);
       await sleep(retries * 100);
       if (key === "broken" && asked.length === 1) throw new Error("no server");
       return key === "third" && asked.length === 3 && { marks: asked.map(String) };
     };
     return kit.patiently(wait, { retryCount: 2, retryDelay: 100 }, call);
   }`,
  async (peer) => {
    await peer.open();
    const acquire = (key, wait_ms) => peer.ask({ do: "acquire", key, wait_ms });
    assert.deepEqual(await acquire("taken", 0), { is: "refused" });
    assert.deepEqual((await acquire("third", 5000)).marks, ["2", "2", "2"]);
    // The first call may have had an effect, whatever the second says.
    assert.deepEqual(await acquire("broken", 550), { is: "error", text: "Error: no server" });
  },
);

withAdapter(
  "keeps what the library prints out of the answers",
  'open() { console.log("hello from the library"); process.stdout.write("and again\\n"); }',
  async (peer) => {
    assert.equal((await peer.open()).is, "opened");
    await peer.close();
    assert.equal(peer.errors, "hello from the library\nand again\n");
  },
);

withAdapter(
  "reads any text, and clips its own",
  "async acquire(key) { throw new Error(String(key.length).padEnd(100_000, 'x')); }",
  async (peer) => {
    await peer.open();
    // The middle one ends a line for `readline` of Node 24.
    const { text } = await peer.ask({ do: "acquire", key: "a\u2028b" });
    assert.ok(text.startsWith("Error: 3xxx") && text.endsWith("x ..."), text);
    assert.ok(text.length < 5000, `${text.length}`);
  },
);

withAdapter(
  "ends at the end of its input, whatever the library has left",
  "open() { setInterval(() => {}, 1000); }",
  async (peer) => {
    await peer.open();
    peer.process.stdin.end();
    assert.equal(await peer.ended, 0);
  },
);

withAdapter(
  "ends as the library does that ends the process",
  'open() { Promise.reject(new Error("nobody listens")); return new Promise(() => {}); }',
  async (peer) => {
    peer.send({ do: "hello", protocol: 2 });
    peer.send(OPEN);
    assert.equal(await peer.ended, 1);
    assert.match(peer.errors, /nobody listens/);
  },
);

for (const line of ["no JSON", "[]", "null", '{"id":1}', '{"go":"on"}']) {
  withAdapter(`says what is wrong with the line ${line}`, "", async (peer) => {
    await peer.open();
    peer.write(line);
    assert.equal(await peer.ended, 65);
    assert.match(peer.errors, /^line 3 of standard input must be a JSON object with /);
    assert.ok(peer.errors.endsWith(`and is: ${line}\n`), peer.errors);
  });
}
