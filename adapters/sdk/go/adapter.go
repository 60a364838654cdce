// Package adapter is everything of a Lockstorm adapter but the lock. It speaks the protocol of
// docs/adapter-protocol.md on standard input and output, and drives the lock that the program
// gives to [Serve].
//
// What a library returns as an error becomes the answer that is safe: an error, which says that
// nobody knows whether the call had an effect. The named errors of this package say more. A panic
// is not caught: it ends the process, as it would end the program of any other user of the library.
package adapter

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// Lock is one client's side of a library's lock, for any number of keys. Its methods are called one
// after the other. Their context is cancelled when the harness gives the call up, and when the call
// has been answered: what outlives it, such as a watchdog, needs a context of its own.
//
// What a lock can do beyond this it says by implementing [Renewer], [Follower], [Holder] and
// [Waiter].
type Lock interface {
	// Acquire tries once, or waits as long as the ask says where the lock can [Wait]. It returns
	// [ErrRefused] where another has the lock, and [ErrRefusedUnknown] where the library does not
	// tell whether that was the reason.
	Acquire(ctx context.Context, ask Ask) (Grant, error)
	// Release gives the lock back, or returns [ErrNotOwner].
	Release(ctx context.Context, ask Ask) (Released, error)
}

// Renewer is a [Lock] that extends a lease when it is asked to.
type Renewer interface {
	// Renew extends the lease and returns for how long the library says that it is good from the
	// call on, or 0 where the library does not say. It returns [ErrNotOwner] where the lock is lost.
	Renew(ctx context.Context, ask Ask) (time.Duration, error)
}

// Follower is a [Lock] that can be told that writes go to other servers now.
type Follower interface {
	// Follow goes to these servers from now on.
	Follow(servers []Server) error
}

// Holder is a [Lock] whose library knows what it holds without asking a server. For others the kit
// goes by the answers that were given and the notes that were sent.
type Holder interface {
	// Holds tells whether the client goes on as the holder.
	Holds(ask Ask) bool
}

// Waiter is a [Lock] that knows when it may be worth to try again after a refusal.
type Waiter interface {
	// Await returns when a try may be worth it: after the pause where nothing tells, and in any case
	// when the time within which the client wants to try again is over.
	Await(ctx context.Context, key string, pause, within time.Duration) error
	// EndWait says that nobody waits any more, because the lock was granted or for another reason.
	EndWait(ctx context.Context, key string, granted bool) error
}

// Ability is a word for what not all adapters can do.
type Ability string

// The abilities that an adapter has to name. Others follow from the methods of its [Lock].
const (
	// Cancel: a call whose context is cancelled ends before its time.
	Cancel Ability = "cancel"
	// Identity: the owner is called as [Client.Identity] says.
	Identity Ability = "identity"
	// Queue: waiters stand in a queue, and [Client.Queued] says when the client takes a place in it.
	Queue Ability = "queue"
	// SilentWatchdog: the library renews by itself, and that cannot be wrapped.
	SilentWatchdog Ability = "silent-watchdog"
	// AlwaysRenews: it does so for every lock, also where [Client.RenewEvery] is zero.
	AlwaysRenews Ability = "always-renews"
	// Tokens: each grant has a fencing token, greater than those before of the same key.
	Tokens Ability = "tokens"
	// Wait: Acquire waits by itself, for [Ask.Wait] at most.
	Wait Ability = "wait"
	// Watchdog: the library renews by itself, and each renewal passes through [Client.Renewal].
	Watchdog Ability = "watchdog"
)

// Opened is a client that is ready, and what it can do.
type Opened struct {
	Lock Lock
	// Can names abilities that do not follow from the methods of the lock.
	Can []Ability
	// Readers says that the lock knows readers; without it they are not handed on.
	Readers bool
	// Permits says that the lock is a semaphore; without it more than one permit is not handed on.
	Permits bool
	// Promises names what the library promises beyond every lock: `lockstorm list promises`.
	Promises []string
	// Denies names those promises of every lock that the library does not make.
	Denies []string
	// AnswersWithin is the longest time that a call takes with all its tries; 0 means 10 s.
	AnswersWithin time.Duration
	// ServerKey is the key on a server, with {key} for the name of the lock; empty if it is the name.
	ServerKey string
}

// Serve answers the harness until it closes or standard input ends, and then ends the process,
// whatever the library still has running. The name and version are those of the library. Serve
// calls open once, which may return [Unsupported].
//
// What else is written to standard output goes to standard error.
func Serve(name, version string, open func(*Client) (Opened, error)) {
	out, err := takeStandardOutput()
	if err == nil {
		err = newSession(out, name, version, open).run(os.Stdin)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "adapter: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Version returns the version of a module that the program was built with, such as "1.2.3".
func Version(module string) string {
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return strings.TrimPrefix(dependency.Version, "v")
			}
		}
	}
	return "unknown"
}
