package adapter

import "sync"

// place is a lock, and the mode in which it is held.
type place struct {
	key  string
	mode Mode
}

func placeOf(ask Ask) place {
	if ask.Mode == "" {
		ask.Mode = Write
	}
	return place{ask.Key, ask.Mode}
}

// ledger is what the client holds by the answers that were given and the notes that were sent.
type ledger struct {
	mu sync.Mutex
	// reentrant says that a lock that is granted twice has to be given back twice.
	reentrant bool
	counts    map[place]int
	suspended map[place]bool
}

func newLedger() *ledger {
	return &ledger{counts: map[place]int{}, suspended: map[place]bool{}}
}

func (l *ledger) gain(ask Ask) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := placeOf(ask); l.reentrant {
		l.counts[at]++
	} else {
		l.counts[at] = 1
	}
}

func (l *ledger) giveBack(ask Ask, told Released) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := placeOf(ask)
	left := l.counts[at] - 1
	switch {
	case told.Count != nil:
		left = *told.Count
	case told.OwnershipUnknown:
		left = 0
	}
	l.counts[at] = max(left, 0)
}

func (l *ledger) lose(ask Ask) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.counts, placeOf(ask))
	delete(l.suspended, placeOf(ask))
}

func (l *ledger) suspend(ask Ask, suspended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.suspended[placeOf(ask)] = suspended
}

// standing returns the answer to whether the client goes on as the holder.
func (l *ledger) standing(ask Ask) answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch at := placeOf(ask); {
	case l.counts[at] == 0:
		return answer{Is: "not-owner"}
	case l.suspended[at]:
		return answer{Is: "suspended"}
	default:
		return answer{Is: "held"}
	}
}
