// An adapter of Lockstorm around go.etcd.io/etcd/client/v3/concurrency: docs/adapter-protocol.md.
//
// The library is used as its documentation shows it: a Mutex on a session, whose lease the library
// keeps alive. What is tried once is TryLock, because the harness repeats what is refused; and each
// try has a session of its own, so that its lease begins with it. The library waits for servers as
// long as its context says: here, as long as the scenario waits for a server.
package main

import (
	"context"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	etcd "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"lockstorm.dev/adapter"
)

// hold is a mutex that was granted, and its session.
type hold struct {
	session *concurrency.Session
	mutex   *concurrency.Mutex
}

// locker is one client, and what it was granted and has not given back.
type locker struct {
	client *adapter.Client
	etcd   *etcd.Client
	ttl    int
	guard  sync.Mutex
	holds  map[string]hold
}

func main() {
	adapter.Serve("etcd concurrency", adapter.Version("go.etcd.io/etcd/client/v3"), open)
}

func open(client *adapter.Client) (adapter.Opened, error) {
	if client.Topology != "etcd" {
		return adapter.Opened{}, adapter.Unsupported("it needs servers of etcd")
	}
	if client.Lease == 0 || client.Lease%time.Second != 0 {
		return adapter.Opened{}, adapter.Unsupported("a session keeps a lease of whole seconds alive")
	}
	connected, err := etcd.New(etcd.Config{
		Endpoints:   adapter.Addresses(client.Servers),
		DialTimeout: client.Patience,
	})
	l := &locker{client: client, etcd: connected, holds: map[string]hold{}}
	l.ttl = int(client.Lease / time.Second)
	return adapter.Opened{
		Lock:     l,
		Can:      []adapter.Ability{adapter.Cancel, adapter.AlwaysRenews, adapter.Tokens},
		Promises: []string{"survives-minority", "keeps-alive", "fenced"},
		// To close a session takes as long as its lease where no server answers.
		AnswersWithin: client.Patience + client.Lease + time.Second,
	}, err
}

func (l *locker) Acquire(ctx context.Context, ask adapter.Ask) (adapter.Grant, error) {
	ctx, done := context.WithTimeout(ctx, l.client.Patience)
	defer done()
	lease, err := l.etcd.Grant(ctx, int64(l.ttl))
	if err != nil {
		return adapter.Grant{}, err
	}
	session, err := concurrency.NewSession(l.etcd,
		concurrency.WithLease(lease.ID), concurrency.WithTTL(l.ttl))
	if err != nil {
		return adapter.Grant{}, err
	}
	mutex := concurrency.NewMutex(session, ask.Key)
	if err := mutex.TryLock(ctx); err != nil {
		session.Close()
		return adapter.Grant{}, adapter.Translate(err, concurrency.ErrLocked, adapter.ErrRefused)
	}
	l.guard.Lock()
	l.holds[ask.Key] = hold{session, mutex}
	l.guard.Unlock()
	go l.watch(session, ask)
	token := uint64(mutex.Header().Revision)
	return adapter.Grant{Token: &token, Marks: []string{mutex.Key()}}, nil
}

// watch tells it when the library says that a session has ended whose lock was not given back.
func (l *locker) watch(session *concurrency.Session, ask adapter.Ask) {
	<-session.Done()
	l.guard.Lock()
	defer l.guard.Unlock()
	if l.holds[ask.Key].session == session {
		l.client.Lost(ask)
	}
}

func (l *locker) Release(ctx context.Context, ask adapter.Ask) (adapter.Released, error) {
	l.guard.Lock()
	held := l.holds[ask.Key]
	delete(l.holds, ask.Key)
	l.guard.Unlock()
	if held.mutex == nil {
		return adapter.Released{}, adapter.ErrNotOwner
	}
	ctx, done := context.WithTimeout(ctx, l.client.Patience)
	defer done()
	err := held.mutex.Unlock(ctx)
	// Whatever came of it, the lease is kept alive no more. Unlock deletes its key without a look;
	// that the lease was there says that the key was.
	if closed := held.session.Close(); err == nil {
		err = closed
	}
	return adapter.Released{}, adapter.Translate(err, rpctypes.ErrLeaseNotFound, adapter.ErrNotOwner)
}
