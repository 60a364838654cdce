"""An adapter of Lockstorm around redis-py's `Lock`: docs/adapter-protocol.md.

The library is used as its documentation shows it, with its own defaults: one client, a `Lock` for
each key, renewed with `reacquire`.
"""

import redis
from redis.cluster import ClusterNode, RedisCluster
from redis.exceptions import LockError, LockNotOwnedError
from redis.sentinel import Sentinel

from lockstorm_adapter import Adapter, granted, only, serve


class RedisPy(Adapter):
    """One client of the lock."""

    name, version = "redis-py Lock", redis.__version__
    can = ("identity",)
    answers_within = 620  # eleven tries: see the README
    not_owner, failed = LockNotOwnedError, LockError

    def open(self, client):
        self.lease, self.identity, self.locks = client.lease, client.identity, {}
        if client.sentinels:
            sentinel = Sentinel(client.sentinels.sentinels)
            self.redis = sentinel.master_for(client.sentinels.master)
        elif client.topology == "cluster":
            self.redis = RedisCluster(startup_nodes=[ClusterNode(*node) for node in client.nodes])
        else:
            self.follow(client.servers)

    def follow(self, servers):
        host, port = only(servers)
        self.redis = redis.Redis(host=host, port=port)
        for lock in self.locks.values():
            lock.redis = self.redis

    def lock(self, key):
        """The library's lock of this name; it keeps the token of its holder."""
        if key not in self.locks:
            self.locks[key] = self.redis.lock(key, timeout=self.lease)
        return self.locks[key]

    def acquire(self, key):
        lock = self.lock(key)
        is_granted = lock.acquire(blocking=False, token=self.identity)
        return is_granted and granted(marks=[lock.local.token])

    def renew(self, key):
        return self.lock(key).reacquire()

    def release(self, key):
        self.lock(key).release()


serve(RedisPy())
