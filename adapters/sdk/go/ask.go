package adapter

import (
	"fmt"
	"time"
)

// Mode is the way in which a lock is asked for or held.
type Mode string

// The modes.
const (
	Write Mode = "write"
	Read  Mode = "read"
)

// Ask is the lock that a call is about, and how it is asked for or held.
type Ask struct {
	Key string
	// Mode is Write but for a lock that knows readers.
	Mode Mode
	// Permits is 1 but for a semaphore.
	Permits int
	// Wait is how long the client is ready to wait; 0 but for a lock that can [Wait].
	Wait time.Duration
}

// Grant is what a library says of a lock that it has granted. Its zero value says nothing more.
type Grant struct {
	// Lease is for how long the library says that the lock is good, from the call of Acquire on; 0
	// where it does not say.
	Lease time.Duration
	// Token is the fencing token, or nil.
	Token *uint64
	// Marks are the values by which servers know the holder; they need not be text.
	Marks []string
	// By names the servers that granted it, where the library knows.
	By []string
	// UntilSessionEnd says that it has no lease and goes with a session of the client's, which ends
	// when nobody knows.
	UntilSessionEnd bool
	// Waited is how long after the call of Acquire the try was sent that was granted, at least.
	Waited time.Duration
}

// Released is what a library says of a lock that it has given back. Its zero value says that the
// lock was the client's and is free.
type Released struct {
	// OwnershipUnknown says that the library does not tell whether the client held the lock.
	OwnershipUnknown bool
	// Count is how often the client holds the lock now, or nil where the library does not count.
	Count *int
}

// checked returns the ask with its defaults, or says what the lock does not know.
func (o *Opened) checked(ask Ask) (Ask, error) {
	switch {
	case ask.Key == "":
		return ask, Failed(fmt.Errorf("'key' must be the name of a lock"))
	case ask.Mode != Write && ask.Mode != Read:
		return ask, Failed(fmt.Errorf("'mode' must be 'write' or 'read', and is %q", ask.Mode))
	case ask.Permits < 1:
		return ask, Failed(fmt.Errorf("'permits' must be 1 or more, and is %d", ask.Permits))
	case ask.Mode == Read && !o.Readers:
		return ask, Unsupported("the lock knows no readers: 'mode' must be 'write'")
	case ask.Permits > 1 && !o.Permits:
		return ask, Unsupported("the lock is no semaphore: 'permits' must be 1")
	}
	if !o.can(Wait) {
		ask.Wait = 0
	}
	return ask, nil
}
