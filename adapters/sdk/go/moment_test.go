package adapter

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"
)

// pause is how long after a request something is told.
const pause = 30 * time.Millisecond

// within checks that something was told after the pause, and before now.
func within(t *testing.T, after time.Duration, begun time.Time) {
	t.Helper()
	if elapsed := time.Since(begun); after < pause || after >= elapsed {
		t.Errorf("told after %v, with a pause of %v, within %v", after, pause, elapsed)
	}
}

func TestNotesSayHowLongAfterARequestTheyWereTold(t *testing.T) {
	lock := newFake()
	h := opened(t, lock, Opened{Can: []Ability{Watchdog}})
	h.say(`{"id":3,"do":"acquire","key":"k"}`)
	h.next()
	begun := time.Now()
	h.say(`{"id":4,"do":"touch","key":"k"}`)
	h.next()
	time.Sleep(pause)
	ask := Ask{Key: "k"}
	lock.client.Suspended(ask)
	within(t, h.hearAfter(4, `{"note":"suspended","key":"k"}`), begun)
	// The word about a renewal is no request.
	renew := func() (time.Duration, error) { return 0, nil }
	go lock.client.Renewal(ask, renew)
	h.next()
	h.say(`{"go":1}`)
	h.next()
	lock.client.Resumed(ask)
	within(t, h.hearAfter(4, `{"note":"resumed","key":"k"}`), begun)
	lock.client.Lost(ask)
	within(t, h.hearAfter(4, `{"note":"lost","key":"k"}`), begun)
}

func TestALossIsTimedFromTheRequestUnderWay(t *testing.T) {
	lock := newFake()
	lock.acquire = func(_ context.Context, ask Ask) (Grant, error) {
		time.Sleep(pause)
		lock.client.Lost(Ask{Key: "other"})
		return Grant{}, nil
	}
	h := opened(t, lock, Opened{})
	begun := time.Now()
	h.say(`{"id":7,"do":"acquire","key":"k"}`)
	within(t, h.hearAfter(7, `{"note":"lost","key":"other"}`), begun)
	h.say(`{"id":8,"do":"cancel","request":7}`)
	h.next()
	h.next()
	lock.client.Lost(Ask{Key: "k"})
	h.hearAfter(8, `{"note":"lost","key":"k"}`)
}

func TestALossByAnAnswerIsTimedAsTheCallEnds(t *testing.T) {
	lock := newFake()
	lose := func() (time.Duration, error) {
		time.Sleep(pause)
		return 0, Lost(io.EOF)
	}
	lock.renew = func(context.Context, Ask) (time.Duration, error) { return lose() }
	h := opened(t, lock, Opened{Can: []Ability{Watchdog}})
	begun := time.Now()
	h.say(`{"id":3,"do":"renew","key":"k"}`)
	h.next()
	within(t, h.hearAfter(3, `{"note":"lost","key":"k","mode":"write","permits":1}`), begun)
	go lock.client.Renewal(Ask{Key: "k"}, lose)
	h.next()
	h.say(`{"go":1}`)
	h.next()
	within(t, h.hearAfter(3, `{"note":"lost","key":"k"}`), begun)
}

func TestWhatIsToldBeforeARequestHasNoTime(t *testing.T) {
	unheard := (*heard)(nil).now()
	said, err := json.Marshal(noteAt("lost", Ask{Key: "k"}, unheard))
	if err != nil || string(said) != `{"note":"lost","key":"k"}` {
		t.Errorf("%s, %v", said, err)
	}
}
