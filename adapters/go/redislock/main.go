// An adapter of Lockstorm around github.com/bsm/redislock: docs/adapter-protocol.md.
//
// The library is used as its documentation shows it, on go-redis, both with their own defaults.
package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	"lockstorm.dev/adapter"
	"lockstorm.dev/adapter/goredis"
)

// locker is one client, and the locks that it was granted.
type locker struct {
	client *adapter.Client
	redis  *redislock.Client
	locks  map[string]*redislock.Lock
}

func main() {
	adapter.Serve("redislock", adapter.Version("github.com/bsm/redislock"), open)
}

func open(client *adapter.Client) (adapter.Opened, error) {
	if client.Lease == 0 {
		return adapter.Opened{}, adapter.Unsupported("redislock has no lock that never expires")
	}
	if client.Topology == "independent" {
		return adapter.Opened{}, adapter.Unsupported("redislock asks one server, not a majority")
	}
	redis := redislock.New(goredis.Connect(client, client.Servers)[0])
	return adapter.Opened{
		Lock:          &locker{client, redis, map[string]*redislock.Lock{}},
		Can:           []adapter.Ability{adapter.Cancel, adapter.Identity},
		AnswersWithin: goredis.AnswersWithin,
	}, nil
}

func (l *locker) Follow(servers []adapter.Server) error {
	l.redis = redislock.New(goredis.Connect(l.client, servers)[0])
	for _, lock := range l.locks {
		lock.Client = l.redis
	}
	return nil
}

func (l *locker) Acquire(ctx context.Context, ask adapter.Ask) (adapter.Grant, error) {
	// Without an identity the library draws its token at random, as it does by default.
	options := redislock.Options{Token: l.client.Identity}
	lock, err := l.redis.Obtain(ctx, ask.Key, l.client.Lease, &options)
	if err != nil {
		err = adapter.Translate(err, redislock.ErrNotObtained, adapter.ErrRefused)
		return adapter.Grant{}, err
	}
	l.locks[ask.Key] = lock
	return adapter.Grant{Marks: []string{lock.Token()}}, nil
}

func (l *locker) Renew(ctx context.Context, ask adapter.Ask) (time.Duration, error) {
	lock, granted := l.locks[ask.Key]
	if !granted {
		return 0, adapter.ErrNotOwner
	}
	err := lock.Refresh(ctx, l.client.Lease, nil)
	return 0, adapter.Translate(err, redislock.ErrNotObtained, adapter.ErrNotOwner)
}

func (l *locker) Release(ctx context.Context, ask adapter.Ask) (adapter.Released, error) {
	// Of a lock that was never granted, which is nil, the library says that it is not held.
	err := l.locks[ask.Key].Release(ctx)
	return adapter.Released{}, adapter.Translate(err, redislock.ErrLockNotHeld, adapter.ErrNotOwner)
}
