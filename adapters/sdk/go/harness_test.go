package adapter

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

// patience is the longest time that a test waits for a line.
const patience = 10 * time.Second

const opening = `{"id":2,"do":"open","client":"a","lease_ms":600,"renew_every_ms":200,` +
	`"reply_timeout_ms":500,"topology":"sentinel","source":"127.0.0.1","seed":7,"lock":{},` +
	`"servers":[{"name":"n1","address":"127.0.0.1:6379"}],` +
	`"nodes":[{"name":"n1","address":"127.0.0.1:6379"},{"name":"n2","address":"[::1]:80"}],` +
	`"sentinels":{"master":"m","sentinels":[{"name":"s1","address":"127.0.0.3:5"}],"servers":[]}}`

// fake is a lock whose calls do what a test says.
type fake struct {
	client  *Client
	acquire func(context.Context, Ask) (Grant, error)
	release func(context.Context, Ask) (Released, error)
	renew   func(context.Context, Ask) (time.Duration, error)
}

func (f *fake) Acquire(ctx context.Context, ask Ask) (Grant, error) {
	return f.acquire(ctx, ask)
}

func (f *fake) Release(ctx context.Context, ask Ask) (Released, error) {
	return f.release(ctx, ask)
}

func (f *fake) Renew(ctx context.Context, ask Ask) (time.Duration, error) {
	return f.renew(ctx, ask)
}

func newFake() *fake {
	return &fake{
		acquire: func(context.Context, Ask) (Grant, error) { return Grant{}, nil },
		release: func(context.Context, Ask) (Released, error) { return Released{}, nil },
		renew:   func(context.Context, Ask) (time.Duration, error) { return 0, nil },
	}
}

// harness is the other end of a session.
type harness struct {
	*testing.T
	in    io.WriteCloser
	lines chan string
	over  chan error
}

func talkTo(t *testing.T, open func(*Client) (Opened, error)) *harness {
	hear, in := io.Pipe()
	out, say := io.Pipe()
	h := &harness{t, in, make(chan string, 1000), make(chan error, 1)}
	go func() {
		h.over <- newSession(say, "a lock", "1.2", open).run(hear)
		say.Close()
	}()
	go func() {
		defer close(h.lines)
		scanner := bufio.NewScanner(out)
		for scanner.Scan() {
			h.lines <- scanner.Text()
		}
	}()
	return h
}

// opened is a harness that has said hello and has opened the lock.
func opened(t *testing.T, lock *fake, with Opened) *harness {
	h := talkTo(t, func(client *Client) (Opened, error) {
		lock.client, with.Lock = client, lock
		return with, nil
	})
	h.say(`{"id":1,"do":"hello","protocol":2}`)
	h.hear(`{"id":1,"is":"hello","protocol":2,"name":"a lock","version":"1.2"}`)
	h.say(opening)
	h.next()
	return h
}

func (h *harness) say(line string) {
	h.Helper()
	if _, err := io.WriteString(h.in, line+"\n"); err != nil {
		h.Fatal(err)
	}
}

func (h *harness) next() string {
	h.Helper()
	select {
	case line, goesOn := <-h.lines:
		if !goesOn {
			h.Fatalf("it ended: %v", <-h.over)
		}
		return line
	case <-time.After(patience):
		h.Fatal("it says nothing")
	}
	return ""
}

func (h *harness) hear(line string) {
	h.Helper()
	h.compare(h.next(), line)
}

// hearAfter hears a note that was told after this request, and returns how long after.
func (h *harness) hearAfter(request uint64, line string) time.Duration {
	h.Helper()
	said := h.next()
	var when moment
	if err := json.Unmarshal([]byte(said), &when); err != nil {
		h.Fatal(err)
	}
	fields := fmt.Sprintf(`,"after":%d,"after_us":%d}`, request, when.AfterUS)
	h.compare(said, strings.TrimSuffix(line, "}")+fields)
	return time.Duration(when.AfterUS) * time.Microsecond
}

func (h *harness) compare(said, line string) {
	h.Helper()
	var heard, expected any
	if err := json.Unmarshal([]byte(line), &expected); err != nil {
		h.Fatal(err)
	}
	if err := json.Unmarshal([]byte(said), &heard); err != nil {
		h.Fatal(err)
	}
	if !reflect.DeepEqual(heard, expected) {
		h.Fatalf("it said %s, and not %s", said, line)
	}
}

func (h *harness) ended() error {
	h.Helper()
	select {
	case err := <-h.over:
		return err
	case <-time.After(patience):
		h.Fatal("it goes on")
		return nil
	}
}
