"""An adapter of Lockstorm around the `Lock` of redis.asyncio: docs/adapter-protocol.md.

The library is used as its documentation shows it, with its own defaults: one client, a `Lock` for
each key, renewed with `reacquire`. A call is given up by cancelling its task.
"""

import redis
from redis.asyncio import Redis, RedisCluster, Sentinel
from redis.asyncio.cluster import ClusterNode
from redis.exceptions import LockError, LockNotOwnedError

from lockstorm_adapter import Adapter, granted, only, serve


class RedisAsyncio(Adapter):
    """One client of the lock."""

    name, version = "redis.asyncio Lock", redis.__version__
    can = ("identity",)
    answers_within = 620  # eleven tries: see the README
    not_owner, failed = LockNotOwnedError, LockError

    async def open(self, client):
        self.lease, self.identity, self.locks = client.lease, client.identity, {}
        if client.sentinels:
            sentinel = Sentinel(client.sentinels.sentinels)
            self.redis = sentinel.master_for(client.sentinels.master)
        elif client.topology == "cluster":
            self.redis = RedisCluster(startup_nodes=[ClusterNode(*node) for node in client.nodes])
        else:
            await self.follow(client.servers)

    async def follow(self, servers):
        host, port = only(servers)
        self.redis = Redis(host=host, port=port)
        for lock in self.locks.values():
            lock.redis = self.redis

    def lock(self, key):
        """The library's lock of this name; it keeps the token of its holder."""
        if key not in self.locks:
            self.locks[key] = self.redis.lock(key, timeout=self.lease)
        return self.locks[key]

    async def acquire(self, key):
        lock = self.lock(key)
        is_granted = await lock.acquire(blocking=False, token=self.identity)
        return is_granted and granted(marks=[lock.local.token])

    async def renew(self, key):
        return await self.lock(key).reacquire()

    async def release(self, key):
        await self.lock(key).release()


serve(RedisAsyncio())
