"""An adapter of Lockstorm around aioredlock: docs/adapter-protocol.md.

The library is used as its documentation shows it, with its own defaults: one manager for all
locks. Where leases are to be renewed, its own watchdog does that. A call is given up by cancelling
its task.
"""

from importlib.metadata import version
from time import monotonic
from uuid import uuid4

from aioredlock import Aioredlock, Lock, LockAcquiringError, LockError
from aioredlock.redis import Redis

from lockstorm_adapter import UNKNOWN, Adapter, NotOwner, Unsupported, granted, serve


class Refused(LockAcquiringError, NotOwner):
    """The library's error where a script says that another has the lock, and nothing failed."""


class TracedRedis(Redis):
    """The library's servers; they keep when the last try for a lock began, and what failed."""

    began, doubts = {}, set()

    async def set_lock(self, resource, identifier, lease):
        self.began[identifier] = monotonic()
        return await self.told(identifier, super().set_lock(resource, identifier, lease))

    async def unset_lock(self, resource, identifier):
        return await self.told(identifier, super().unset_lock(resource, identifier))

    async def told(self, identifier, call):
        try:
            return await call
        except LockError as error:
            if not str(error.__cause__).endswith("ERROR"):
                self.doubts.add(identifier)
            if identifier in self.doubts:
                raise
            raise Refused from error


class GatedAioredlock(Aioredlock):
    """The library's manager; its watchdog passes the gate."""

    async def extend(self, lock):
        await self.gate(lock.resource, super().extend, lock)


class OfAioredlock(Adapter):
    """One client of the lock."""

    name, version = "aioredlock", version("aioredlock")
    can, promises = ("watchdog",), ("keeps-alive", "survives-minority")

    async def open(self, client):
        if client.lease is None:
            raise Unsupported("it has no lock that never expires")
        self.manager = GatedAioredlock(client.servers, internal_lock_timeout=client.lease)
        self.manager.redis, self.manager.gate = TracedRedis(client.servers), self.gate
        # The watchdog extends the locks that are taken without a time-out of their own.
        self.timeout, self.locks = None if client.renew_every else client.lease, {}

    async def acquire(self, key, wait):
        begun = monotonic()
        while True:
            try:
                lock = self.locks[key] = await self.manager.lock(key, self.timeout)
                return granted(marks=[lock.id], waited=TracedRedis.began[lock.id] - begun)
            except Refused:
                if monotonic() - begun >= (wait or 0):
                    return False

    async def renew(self, key):
        await Aioredlock.extend(self.manager, self.lock(key))

    async def release(self, key):
        await self.lock(key).release()
        return UNKNOWN  # It says the same of a lock that is free.

    def alive(self, key):
        return self.lock(key).valid

    def lock(self, key):
        return self.locks.get(key) or Lock(self.manager, key, str(uuid4()))


serve(OfAioredlock())
