"""An adapter of Lockstorm around redis-py's `Lock`: docs/adapter-protocol.md.

The library is used as its documentation shows it, with its own defaults: one client on the one
server that takes writes, a `Lock` for each key, renewed with `reacquire`, and each command tried
again as often as the library does. All that is added is the address to connect from, by which a
faulty network knows whose connection it is, and the patience with a server that the scenario names.
"""

import json
import socket
import sys

import redis
from redis.exceptions import LockError, LockNotOwnedError, RedisError, ResponseError

PROTOCOL = 1


def answer(kind, **fields):
    """An answer of the protocol; what is None is left out."""
    return {"is": kind, **{name: value for name, value in fields.items() if value is not None}}


def connection_from(source):
    """A connection like the library's own, from this address."""

    class Connection(redis.Connection):
        def _connect(self):
            peer = (self.host, self.port)
            made = socket.create_connection(peer, self.socket_connect_timeout, (source, 0))
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            made.settimeout(self.socket_timeout)
            return made

    return Connection


class Client:
    """One client of the lock."""

    def __init__(self, request):
        servers = request["servers"]
        if len(servers) != 1:
            raise ValueError(f"redis-py's Lock lives on one server, and here are {len(servers)}")
        self.lease = request["lease_ms"] / 1000
        self.timeout = request["reply_timeout_ms"] / 1000
        self.source = request["source"]
        self.follow(servers)

    def follow(self, servers):
        """Goes to this server from now on, with what it holds."""
        host, port = servers[0]["address"].rsplit(":", 1)
        # The client makes its pool by itself, so that it retries as it does for its users: a pool
        # that is handed in has no retries.
        self.redis = redis.Redis(
            host=host,
            port=int(port),
            socket_timeout=self.timeout,
            socket_connect_timeout=self.timeout,
        )
        self.redis.connection_pool.connection_class = connection_from(self.source)
        self.locks = getattr(self, "locks", {})
        for lock in self.locks.values():
            lock.redis = self.redis

    def lock(self, key):
        """The library's lock of this name; it keeps the token of its holder."""
        if key not in self.locks:
            self.locks[key] = self.redis.lock(key, timeout=self.lease)
        return self.locks[key]

    def acquire(self, request):
        lock = self.lock(request["key"])
        if lock.acquire(blocking=False):
            return answer("granted", marks=[lock.local.token.decode()])
        return answer("refused")

    def renew(self, request):
        self.lock(request["key"]).reacquire()
        return answer("renewed")

    def release(self, request):
        self.lock(request["key"]).release()
        return answer("released")

    def alive(self, request):
        # The library tells nobody that a lock is lost; `owned` would have to be asked, and would
        # ask the server.
        held = self.lock(request["key"]).local.token is not None
        return answer("held" if held else "not-owner")

    def touch(self, request):
        return answer("done")

    def servers(self, request):
        self.follow(request["servers"])
        return answer("done")


def carry_out(client, request):
    """What comes of a request of an open client."""
    deed = getattr(client, request["do"], None)
    if request["do"] not in ("acquire", "renew", "release", "alive", "touch", "servers"):
        return answer("unsupported", text=request["do"])
    if request.get("mode", "write") != "write" or request.get("permits", 1) != 1:
        return answer("unsupported", text="redis-py's Lock has one holder, who writes")
    try:
        return deed(request)
    except LockNotOwnedError:
        return answer("not-owner")
    except (LockError, ResponseError) as error:
        # The library itself, or the server, refused to do it.
        return answer("failed", text=str(error))
    except RedisError as error:
        return answer("error", text=f"{type(error).__name__}: {error}")


def main():
    client = None
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "hello":
            reply = answer(
                "hello", protocol=PROTOCOL, name="redis-py Lock", version=redis.__version__
            )
        elif request["do"] == "open":
            try:
                client = Client(request)
                reply = answer("opened", can=["source"])
            except (ValueError, KeyError) as error:
                reply = answer("unsupported", text=str(error))
        elif request["do"] == "close":
            reply = answer("done")
        elif client is None:
            reply = answer("unsupported", text=f"{request['do']} before open")
        else:
            reply = carry_out(client, request)
        print(json.dumps({"id": request["id"], **reply}), flush=True)
        if request["do"] == "close":
            break


if __name__ == "__main__":
    main()
