// An adapter of Lockstorm around github.com/go-redsync/redsync: docs/adapter-protocol.md.
//
// The library is used as its documentation shows it, on go-redis, both with their own defaults, but
// for one try at a time: TryLock and not Lock, because the harness repeats what is refused.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	pools "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"lockstorm.dev/adapter"
	"lockstorm.dev/adapter/goredis"
)

// locker is one client, and the mutexes that it was granted.
type locker struct {
	client  *adapter.Client
	redsync *redsync.Redsync
	options []redsync.Option
	mutexes map[string]*redsync.Mutex
}

func main() {
	adapter.Serve("redsync", adapter.Version("github.com/go-redsync/redsync/v4"), open)
}

func open(client *adapter.Client) (adapter.Opened, error) {
	if client.Lease == 0 {
		return adapter.Opened{}, adapter.Unsupported("redsync has no lock that never expires")
	}
	options := []redsync.Option{redsync.WithExpiry(client.Lease)}
	if client.NodeTimeout > 0 {
		factor := client.NodeTimeout.Seconds() / client.Lease.Seconds()
		options = append(options, redsync.WithTimeoutFactor(factor))
	}
	l := &locker{client: client, options: options, mutexes: map[string]*redsync.Mutex{}}
	opened := adapter.Opened{
		Lock:          l,
		Can:           []adapter.Ability{adapter.Cancel},
		AnswersWithin: goredis.AnswersWithin,
	}
	if client.Topology == "independent" {
		opened.Promises = []string{"survives-minority"}
	}
	return opened, l.Follow(client.Servers)
}

func (l *locker) Follow(servers []adapter.Server) error {
	var all []redis.Pool
	for _, connection := range goredis.Connect(l.client, servers) {
		all = append(all, pools.NewPool(connection))
	}
	l.redsync = redsync.New(all...)
	for key, mutex := range l.mutexes {
		l.mutexes[key] = l.redsync.NewMutex(key, l.options...)
		redsync.WithValue(mutex.Value()).Apply(l.mutexes[key])
	}
	return nil
}

func (l *locker) Acquire(ctx context.Context, ask adapter.Ask) (adapter.Grant, error) {
	mutex, begun := l.redsync.NewMutex(ask.Key, l.options...), time.Now()
	if err := mutex.TryLockContext(ctx); err != nil {
		return adapter.Grant{}, meaning(err, adapter.ErrRefused)
	}
	l.mutexes[ask.Key] = mutex
	return adapter.Grant{Lease: mutex.Until().Sub(begun), Marks: []string{mutex.Value()}}, nil
}

func (l *locker) Renew(ctx context.Context, ask adapter.Ask) (time.Duration, error) {
	mutex, begun := l.mutexes[ask.Key], time.Now()
	if mutex == nil {
		return 0, adapter.ErrNotOwner
	}
	if _, err := mutex.ExtendContext(ctx); err != nil {
		return 0, meaning(err, adapter.ErrNotOwner)
	}
	return mutex.Until().Sub(begun), nil
}

func (l *locker) Release(ctx context.Context, ask adapter.Ask) (adapter.Released, error) {
	mutex := l.mutexes[ask.Key]
	if mutex == nil {
		return adapter.Released{}, adapter.ErrNotOwner
	}
	_, err := mutex.UnlockContext(ctx)
	return adapter.Released{}, meaning(err, adapter.ErrNotOwner)
}

// meaning returns `no` where servers have answered that, enough of them to be sure.
func meaning(err, no error) error {
	_, silent := errors.AsType[*redsync.RedisError](err)
	_, taken := errors.AsType[*redsync.ErrTaken](err)
	_, nodeTaken := errors.AsType[*redsync.ErrNodeTaken](err)
	if !silent && (taken || nodeTaken || errors.Is(err, redsync.ErrLockAlreadyExpired)) {
		return no
	}
	return err
}
