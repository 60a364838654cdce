"""An adapter of Lockstorm around pottery's `Redlock`: docs/adapter-protocol.md.

The library is used as its documentation shows it, with its own defaults: a `Redlock` for each
acquire, on a client of redis-py for each master.
"""

from importlib.metadata import version
from time import monotonic

from pottery import ExtendUnlockedLock, Redlock, ReleaseUnlockedLock, TooManyExtensions
from redis import Redis

from lockstorm_adapter import UNKNOWN, Adapter, NotOwner, Unsupported, granted, serve


class TracedRedlock(Redlock):
    """The library's lock; it keeps when its last try began, and if masters have refused all."""

    is_refused = True

    # The library calls both by these names.
    def _Redlock__acquire_masters(self, **how):
        self.began, self.noes = monotonic(), []
        is_granted = super()._acquire_masters(**how)
        self.is_refused &= len(self.noes) > len(self.masters) // 2
        return is_granted

    def _Redlock__acquire_master(self, master):
        is_granted = super()._Redlock__acquire_master(master)
        self.noes += [] if is_granted else [master]
        return is_granted


class Pottery(Adapter):
    """One client of the lock."""

    name, version = "pottery Redlock", version("pottery")
    promises, server_key = ("survives-minority",), "redlock:{key}"
    # Two connections and commands, with redis-py's time-outs: see the README.
    answers_within, failed = 40, TooManyExtensions

    def open(self, client):
        if client.lease is None:
            raise Unsupported("it has no lock that never expires")
        self.lease, self.locks = client.lease, {}
        self.follow(client.servers)

    def follow(self, servers):
        self.masters = {Redis.from_url(f"redis://{host}:{port}") for host, port in servers}

    def lock(self, key):
        """A lock of the library's, as its documentation has a new one made for each use."""
        return TracedRedlock(key=key, masters=self.masters, auto_release_time=self.lease)

    def acquire(self, key, wait):
        lock, begun = self.lock(key), monotonic()
        if not lock.acquire(**({"timeout": wait} if wait else {"blocking": False})):
            return False if lock.is_refused else UNKNOWN
        self.locks[key] = lock
        return granted(marks=[lock._uuid], waited=lock.began - begun)

    def renew(self, key):
        told((self.locks.get(key) or self.lock(key)).extend)

    def release(self, key):
        told((self.locks.get(key) or self.lock(key)).release)


def told(call):
    """Calls the library, which has one exception for what is not its own and for silent masters."""
    try:
        call()
    except (ExtendUnlockedLock, ReleaseUnlockedLock) as error:
        raise next(iter(error.redis_errors), NotOwner()) from error


serve(Pottery())
