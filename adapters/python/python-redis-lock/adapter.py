"""An adapter of Lockstorm around python-redis-lock: docs/adapter-protocol.md.

The library is used as its documentation shows it, with its own defaults: a `Lock` for each acquire.
Where leases are to be renewed, its own thread does that, as often as it thinks right.
"""

from functools import partial
from time import monotonic

import redis_lock
from redis import StrictRedis
from redis.sentinel import Sentinel

from lockstorm_adapter import Adapter, Unsupported, granted, only, renewed, serve


class WatchedLock(redis_lock.Lock):
    """The library's lock: its renewals pass the gate, and it keeps when it asked for the key."""

    def extend(self, expire=None):
        self.gate(partial(super().extend, expire))

    @property
    def _held(self):
        # It looks at the key before it asks for it, and that may take as long again.
        held, self.asked = super()._held, monotonic()
        return held


class PythonRedisLock(Adapter):
    """One client of the lock."""

    name, version = "python-redis-lock", redis_lock.__version__
    can, promises = ("identity", "watchdog"), ("keeps-alive",)
    # Two commands, each with eleven tries: see the README.
    answers_within, server_key = 1240, "lock:{key}"
    not_owner = redis_lock.NotAcquired
    failed = (redis_lock.AlreadyAcquired, redis_lock.NotExpirable)

    def open(self, client):
        # It drops fractions of a second.
        self.lease = client.lease and int(client.lease)
        if self.lease == 0:
            raise Unsupported(f"its leases are whole seconds, and this one is {client.lease} s")
        self.client, self.locks = client, {}
        if client.sentinels:
            sentinel = Sentinel(client.sentinels.sentinels)
            self.redis = sentinel.master_for(client.sentinels.master)
        else:
            self.follow(client.servers)

    def follow(self, servers):
        host, port = only(servers)
        self.redis = StrictRedis(host=host, port=port)
        for lock in self.locks.values():
            lock._client = self.redis

    def lock(self, key):
        """A lock of the library's, as a user makes one for each use."""
        how = {"id": self.client.identity, "auto_renewal": self.client.renew_every is not None}
        lock = WatchedLock(self.redis, key, expire=self.lease, **how)
        lock.gate = lambda extend: self.gate(key, lambda: extend() or renewed(self.lease))
        return lock

    def acquire(self, key):
        lock, begun = self.lock(key), monotonic()
        if not lock.acquire(blocking=False):
            return False
        self.locks[key] = lock
        return granted(self.lease, marks=[lock.id], waited=lock.asked - begun)

    def renew(self, key):
        redis_lock.Lock.extend(self.locks.get(key) or self.lock(key))
        return renewed(self.lease)

    def release(self, key):
        (self.locks.get(key) or self.lock(key)).release()


serve(PythonRedisLock())
