// What adapters of libraries have in common that are given clients of ioredis.

import { Adapter } from "./lockstorm-adapter.mjs";

/** An adapter of a library on ioredis. */
export class OnIoredis extends Adapter {
  /**
   * Makes the clients that the library is given: one for each server or, where sentinels or a
   * Cluster tell which it is, a single one. They have the defaults of ioredis but for
   * `commandTimeout`, which is the client's patience: without it, a command to a server that is
   * silent never ends. With `endless` among the arguments of the program, it does not.
   *
   * @param {typeof import("ioredis").Redis} Redis
   * @param {import("./lockstorm-adapter.mjs").Client} client
   */
  connect(Redis, { topology, servers, nodes, sentinels, patience, nodeTimeout = patience }) {
    const timeout = topology === "independent" ? nodeTimeout : patience;
    const options = process.argv.includes("endless") ? {} : { commandTimeout: timeout };
    if (topology === "cluster") {
      this.clients = [new Redis.Cluster(nodes, { redisOptions: options })];
    } else if (sentinels) {
      const { master: name, sentinels: addresses } = sentinels;
      this.clients = [new Redis({ sentinels: addresses, name, ...options })];
    } else {
      this.clients = servers.map(({ host, port }) => new Redis({ host, port, ...options }));
    }
    return this.clients;
  }

  /**
   * Turns the clients to other servers, as a name does that stands for another address from now on:
   * they connect again, and send again what was not answered, as after any lost connection.
   */
  follow(servers) {
    this.clients.forEach((client, n) => {
      const { host, port } = servers[n];
      Object.assign(client.options, { host, port });
      client.disconnect(true);
    });
  }
}

/**
 * Listens to what a library does with clients, for what it does not tell: when it last sent a
 * command, by `performance.now()`, and what failed. A script that is sent again, whole, because the
 * server did not know it, is no command of its own. The library is to be given `clients` of the
 * answer, which stand for those here.
 *
 * @template T
 * @param {T[]} clients
 * @returns {{clients: T[], sent: number | undefined, errors: Set<string>}}
 */
export function overheard(clients) {
  const heard = { sent: undefined, errors: new Set() };
  const hear = ({ message }) => {
    // A library that is told so sends the script itself.
    if (!message.startsWith("NOSCRIPT")) heard.errors.add(message);
  };
  const standIn = (client) =>
    Object.assign(Object.create(client), {
      sendCommand(command, ...more) {
        if (command.name !== "eval") heard.sent = performance.now();
        command.promise.catch(hear);
        return client.sendCommand(command, ...more);
      },
    });
  return Object.assign(heard, { clients: clients.map(standIn) });
}
