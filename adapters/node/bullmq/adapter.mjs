// An adapter of Lockstorm around the locks of jobs of `bullmq` of npm: docs/adapter-protocol.md.

import { NotOwner, Unsupported, serve, versionOf } from "../../sdk/node/lockstorm-adapter.mjs";
import { OnIoredis } from "../../sdk/node/ioredis.mjs";
import { randomUUID } from "node:crypto";
import { ErrorCode, Queue, Worker } from "bullmq";
import Redis from "ioredis";

/** There is no such job, it has no lock, it has the lock of another. */
const NOT_OWNER = [ErrorCode.JobNotExist, ErrorCode.JobLockNotExist, ErrorCode.JobLockMismatch];

/** One client of the lock. */
class BullMq extends OnIoredis {
  name = ["bullmq", ...process.argv.slice(2)].join(" ");
  version = versionOf(import.meta.url, "bullmq");
  // A job whose lock has ended is free only when two checks in a row have found it not renewed.
  denies = ["leaves-nothing", "honest-refusal"];
  serverKey = "bull:{key}:job:lock";
  queues = new Map();

  open(client) {
    if (["cluster", "independent"].includes(client.topology)) {
      throw new Unsupported("its adapter is for one server");
    }
    const [connection] = this.connect(Redis, client);
    // The library demands this of the client of a worker.
    connection.options.maxRetriesPerRequest = null;
    const { lease } = client;
    this.options = { connection, autorun: false, lockDuration: lease, stalledInterval: lease };
    this.lease = lease;
    this.answersWithin = 10_000 + 3 * client.patience;
  }

  /** Makes the queue of a key, and a worker that looks for jobs of it that have stalled. */
  async make(key) {
    const [queue, worker] = [new Queue(key, this.options), new Worker(key, null, this.options)];
    for (const part of [queue, worker]) part.on("error", ({ message }) => console.error(message));
    await worker.startStalledCheckTimer();
    return { queue, worker };
  }

  async acquire(key) {
    const begun = performance.now();
    if (!this.queues.has(key)) this.queues.set(key, this.make(key));
    const { queue, worker } = await this.queues.get(key);
    // Adds nothing where there is that job already.
    await queue.add("lock", {}, { jobId: "job" });
    const token = randomUUID();
    const waited = performance.now() - begun;
    const job = await worker.getNextJob(token, { block: false });
    return job && { lock: { job, token }, lease: this.lease, waited, marks: [token] };
  }

  async renew(key, { lock: { job, token } }) {
    return (await job.extendLock(token, this.lease)) === 1 && { lease: this.lease };
  }

  async release(key, { lock: { job, token } }) {
    await job.moveToWait(token).catch((error) => {
      throw NOT_OWNER.includes(error.code) ? new NotOwner() : error;
    });
  }
}

serve(new BullMq());
