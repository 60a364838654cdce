package adapter

import (
	"errors"
	"fmt"
)

// The errors that say what a library has answered. All others, but for those of [Failed] and
// [Unsupported], mean that nobody knows whether the call had an effect.
var (
	// ErrRefused is returned by Acquire: another has the lock.
	ErrRefused = errors.New("another has the lock")
	// ErrRefusedUnknown is returned by Acquire: the library says the same where another has the lock
	// and where it could not ask.
	ErrRefusedUnknown = errors.New("refused for a reason that the library does not tell")
	// ErrNotOwner is returned by Renew and Release: the lock is not the client's.
	ErrNotOwner = errors.New("the lock is not the client's")
)

type failed struct{ error }

func (f failed) Unwrap() error { return f.error }

type lost struct{ error }

func (l lost) Unwrap() error { return l.error }

type unsupported string

func (u unsupported) Error() string { return string(u) }

// Failed returns an error that says that a call certainly had no effect: a server, or the library
// itself, refused to carry it out.
func Failed(err error) error { return failed{err} }

// Lost returns an error that says that nobody knows whether a renewal or a release had an effect,
// but that the library has told its user that the lock is held no more.
func Lost(err error) error { return lost{err} }

// Unsupported returns an error that says in words what the adapter or its library cannot do at all.
func Unsupported(text string) error { return unsupported(text) }

// Translate returns what an error of the library means, where err is that error, and else err.
func Translate(err, library, meaning error) error {
	if errors.Is(err, library) {
		return meaning
	}
	return err
}

// textMax is the most bytes of an error's text that are sent: lines are bounded.
const textMax = 4000

// endsHold tells whether the client is told by an error that it does not hold the lock.
func endsHold(err error) bool { return errors.Is(err, ErrNotOwner) || errors.As(err, &lost{}) }

// meaning returns the answer that an error stands for.
func meaning(err error) answer {
	var certain failed
	var gone lost
	var unable unsupported
	switch {
	case errors.Is(err, ErrRefused):
		return answer{Is: "refused"}
	case errors.Is(err, ErrRefusedUnknown):
		return answer{Is: "refused", Reason: "unknown"}
	case errors.Is(err, ErrNotOwner):
		return answer{Is: "not-owner"}
	case errors.As(err, &certain):
		return answer{Is: "failed", Text: clipped(certain.Error())}
	case errors.As(err, &unable):
		return answer{Is: "unsupported", Text: clipped(unable.Error())}
	case errors.As(err, &gone):
		unknown := meaning(gone.error)
		unknown.isLost = true
		return unknown
	default:
		return answer{Is: "error", Text: clipped(fmt.Sprintf("%T: %v", err, err))}
	}
}

func clipped(text string) string {
	if len(text) <= textMax {
		return text
	}
	return text[:textMax] + " ..."
}
