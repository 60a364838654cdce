"""An adapter of Lockstorm around redis-py's `Lock`: docs/adapter-protocol.md.

The library is used as its documentation shows it, with its own defaults: one client on the one
server that takes writes, a `Lock` for each key, renewed with `reacquire`, and each command tried
again as often as the library does. Only the patience with a server is the scenario's.
"""

import redis
from redis.exceptions import LockError, LockNotOwnedError, ResponseError

from lockstorm_adapter import Adapter, Failed, NotOwner, Unsupported, serve


class RedisPy(Adapter):
    """One client of the lock."""

    name, version = "redis-py Lock", redis.__version__

    def open(self, client):
        self.lease, self.patience, self.locks = client.lease, client.patience, {}
        self.follow(client.servers)

    def follow(self, servers):
        if len(servers) != 1:
            raise Unsupported(f"redis-py's Lock lives on one server, and here are {len(servers)}")
        [(host, port)] = servers
        patience = {"socket_timeout": self.patience, "socket_connect_timeout": self.patience}
        self.redis = redis.Redis(host=host, port=port, **patience)
        for lock in self.locks.values():
            lock.redis = self.redis

    def lock(self, key):
        """The library's lock of this name; it keeps the token of its holder."""
        if key not in self.locks:
            self.locks[key] = self.redis.lock(key, timeout=self.lease)
        return self.locks[key]

    def acquire(self, key):
        lock = self.lock(key)
        granted = self.call(lock.acquire, blocking=False)
        return granted and {"marks": [lock.local.token.decode()]}

    def renew(self, key):
        self.call(self.lock(key).reacquire)

    def release(self, key):
        self.call(self.lock(key).release)

    def alive(self, key):
        # The library tells nobody that a lock is lost; `owned` would have to be asked, and would
        # ask the server.
        return self.lock(key).local.token is not None

    def call(self, method, **arguments):
        """Calls the library, and says what it means by what it raises."""
        try:
            return method(**arguments)
        except LockNotOwnedError as error:
            raise NotOwner from error
        except (LockError, ResponseError) as error:
            # The library itself, or the server, refused to do it.
            raise Failed(str(error)) from error


serve(RedisPy())
