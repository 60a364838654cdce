"""An adapter of Lockstorm around the lock of RedBeat's scheduler: docs/adapter-protocol.md.

The library is used as celery's beat uses it: its handler of `beat_init` takes the lock, `tick` of
the scheduler extends it, and `close` gives it back. There is a scheduler for each lock, which has
no tasks.
"""

from functools import partial
from importlib.metadata import version
from time import monotonic
from types import SimpleNamespace

from celery import Celery
from redbeat.schedulers import RedBeatScheduler, acquire_distributed_beat_lock, get_redis
from redis import Redis
from redis.exceptions import LockError, LockNotOwnedError

from lockstorm_adapter import UNKNOWN, Adapter, Unsupported, granted, only, serve


class RedBeat(Adapter):
    """One client of the lock."""

    name, version = "RedBeat", version("celery-redbeat")
    # Two connections and three commands, with redis-py's time-outs: see the README.
    answers_within = 40
    not_owner, failed = LockNotOwnedError, LockError

    def open(self, client):
        self.lease = client.lease and int(client.lease)
        if not self.lease:
            raise Unsupported(f"its leases are whole seconds, and this one is {client.lease} s")
        host, port = only(client.servers)
        self.app, self.schedulers = Celery(set_as_current=False), {}
        self.app.conf.redbeat_redis_url = f"redis://{host}:{port}"
        self.redis = get_redis(self.app)
        # The handler asks it for the lock.
        self.redis.lock = self.lock

    def scheduler(self, key):
        """A scheduler that is to hold this lock; the ratio of its times is the library's."""
        times = {"lock_timeout": self.lease, "max_interval": self.lease / 5}
        return RedBeatScheduler(self.app, lock_key=key, lazy=True, **times)

    def lock(self, name, **how):
        """The lock that the handler waits for, but not forever; it tells when it tries."""
        how.update(blocking=bool(self.wait), blocking_timeout=self.wait)
        lock = Redis.lock(self.redis, name, **how)
        lock.do_acquire = partial(self.note_try, lock.do_acquire)
        return lock

    def note_try(self, do_acquire, token):
        self.began = monotonic()
        return do_acquire(token)

    def acquire(self, key, wait):
        self.wait, begun, scheduler = wait, monotonic(), self.scheduler(key)
        acquire_distributed_beat_lock(sender=SimpleNamespace(scheduler=scheduler))
        token = scheduler.lock.local.token
        if token is None:
            return False
        self.schedulers[key] = scheduler
        return granted(self.lease, marks=[token], waited=self.began - begun)

    def renew(self, key):
        (self.schedulers.get(key) or self.scheduler(key)).tick()

    def release(self, key):
        (self.schedulers.get(key) or self.scheduler(key)).close()
        return UNKNOWN  # It passes over a lock that is not its own.


serve(RedBeat())
