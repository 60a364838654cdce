package adapter

import "time"

// moment is a point in time as the harness can know it.
type moment struct {
	// After is the number of the last request that had been read.
	After uint64 `json:"after"`
	// AfterUS is the time since the line of that request was read, in whole microseconds.
	AfterUS int64 `json:"after_us"`
}

// heard is a request, and when its line was read.
type heard struct {
	id uint64
	at time.Time
}

// now returns the present moment, or nil where nothing was heard yet.
func (h *heard) now() *moment {
	if h == nil {
		return nil
	}
	return &moment{h.id, time.Since(h.at).Microseconds()}
}
