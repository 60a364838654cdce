package adapter

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestAGrantGoesWithASession(t *testing.T) {
	lock := newFake()
	lock.acquire = func(_ context.Context, ask Ask) (Grant, error) {
		return Grant{UntilSessionEnd: true}, nil
	}
	h := opened(t, lock, Opened{})
	h.say(`{"id":3,"do":"acquire","key":"k"}`)
	h.hear(`{"id":3,"is":"granted","until":"session-end"}`)
}

func TestASessionGoesThroughAllCalls(t *testing.T) {
	lock, token := newFake(), uint64(7)
	lock.acquire = func(_ context.Context, ask Ask) (Grant, error) {
		return Grant{
			Lease:  600*time.Millisecond + time.Microsecond,
			Token:  &token,
			Marks:  []string{"text", "\xff\x00"},
			By:     []string{"n1"},
			Waited: 3 * time.Millisecond,
		}, nil
	}
	h := opened(t, lock, Opened{})
	h.say(`{"id":3,"do":"acquire","key":"k","mode":"write","permits":1,"unheard-of":{}}`)
	h.hear(`{"id":3,"is":"granted","lease_ms":600,"token":7,"by":["n1"],"waited_ms":3,` +
		`"marks":["text",{"base64":"/wA="}]}`)
	h.say(`{"id":4,"do":"alive","key":"k"}`)
	h.hear(`{"id":4,"is":"held"}`)
	h.say(`{"id":5,"do":"touch","key":"k"}`)
	h.hear(`{"id":5,"is":"done"}`)
	h.say(`{"id":6,"do":"renew","key":"k"}`)
	h.hear(`{"id":6,"is":"renewed"}`)
	h.say(`{"id":7,"do":"release","key":"k"}`)
	h.hear(`{"id":7,"is":"released"}`)
	h.say(`{"id":8,"do":"alive","key":"k"}`)
	h.hear(`{"id":8,"is":"not-owner"}`)
	h.say(`{"id":9,"do":"dance"}`)
	h.hear(`{"id":9,"is":"unsupported","text":"'dance' is not known"}`)
	h.say(`{"id":10,"do":"servers","servers":[]}`)
	h.hear(`{"id":10,"is":"unsupported","text":"it stays with its servers"}`)
	h.say(`{"id":11,"do":"await","key":"k"}`)
	h.hear(`{"id":11,"is":"unsupported","text":"it does not know when to try again"}`)
	h.say(`{"id":12,"do":"close"}`)
	h.hear(`{"id":12,"is":"done"}`)
	if err := h.ended(); err != nil {
		t.Fatal(err)
	}
}

func TestOpenSaysWhoToBe(t *testing.T) {
	lock := newFake()
	opened(t, lock, Opened{})
	client := lock.client
	if client.Name != "a" || client.Lease != 600*time.Millisecond || client.NodeTimeout != 0 ||
		client.RenewEvery != 200*time.Millisecond || client.Patience != 500*time.Millisecond ||
		client.Seed != 7 || client.Identity != "" || client.Permits != 1 || !strings.Contains(string(client.Request), `"lock"`) {
		t.Errorf("%+v", client)
	}
	if client.Servers[0] != (Server{"n1", "127.0.0.1", 6379}) {
		t.Errorf("%+v", client.Servers)
	}
	sentinels := Addresses(client.Sentinels.Sentinels)
	if client.Nodes[1].Address() != "[::1]:80" || client.Sentinels.Master != "m" ||
		!slices.Equal(sentinels, []string{"127.0.0.3:5"}) {
		t.Errorf("%+v", client)
	}
}

func TestOpenedSaysWhatItCan(t *testing.T) {
	is := Opened{
		Lock:          newFake(),
		Can:           []Ability{Cancel, Tokens},
		Promises:      []string{"fenced"},
		Denies:        []string{"settles"},
		AnswersWithin: time.Minute,
		ServerKey:     "lock:{key}",
	}
	for _, version := range []struct {
		asked, spoken int
		can           string
	}{{3, 2, `"cancel","tokens"`}, {1, 1, `"tokens"`}} {
		h := talkTo(t, func(*Client) (Opened, error) { return is, nil })
		h.say(fmt.Sprintf(`{"id":1,"do":"hello","protocol":%d}`, version.asked))
		h.hear(fmt.Sprintf(`{"id":1,"is":"hello","protocol":%d,"name":"a lock","version":"1.2"}`,
			version.spoken))
		h.say(opening)
		h.hear(fmt.Sprintf(`{"id":2,"is":"opened","can":[%s],"promises":["fenced"],`+
			`"denies":["settles"],"answers_within_ms":60000,"server_key":"lock:{key}"}`,
			version.can))
	}
}

func TestWhatCannotBeOpenedSaysWhy(t *testing.T) {
	h := talkTo(t, func(*Client) (Opened, error) { return Opened{}, Unsupported("only on Mondays") })
	h.say(`{"id":1,"do":"acquire","key":"k"}`)
	h.hear(`{"id":1,"is":"unsupported","text":"'open' must come before 'acquire'"}`)
	h.say(opening)
	h.hear(`{"id":2,"is":"unsupported","text":"only on Mondays"}`)
	h.say(`{"id":3,"do":"open","servers":[{"name":"n","address":"there"}]}`)
	text := `"'address' of 'servers' must be host:port, and is \"there\""`
	h.hear(`{"id":3,"is":"failed","text":` + text + `}`)
	h.say(`{"id":4,"do":"open"}`)
	h.hear(`{"id":4,"is":"failed","text":"'servers' must name one server at least"}`)
}

func TestErrorsBecomeAnswers(t *testing.T) {
	count := 2
	for _, one := range []struct {
		err   error
		is    string
		alive string
	}{
		{ErrNotOwner, `"is":"not-owner"`, "not-owner"},
		{fmt.Errorf("no: %w", ErrNotOwner), `"is":"not-owner"`, "not-owner"},
		{Failed(errors.New("read only")), `"is":"failed","text":"read only"`, "held"},
		{Unsupported("never"), `"is":"unsupported","text":"never"`, "held"},
		{io.EOF, `"is":"error","text":"*errors.errorString: EOF"`, "held"},
	} {
		lock := newFake()
		lock.release = func(context.Context, Ask) (Released, error) { return Released{}, one.err }
		lock.renew = func(context.Context, Ask) (time.Duration, error) { return 0, one.err }
		for _, word := range []string{"renew", "release"} {
			h := opened(t, lock, Opened{})
			h.say(`{"id":3,"do":"acquire","key":"k"}`)
			h.next()
			h.say(fmt.Sprintf(`{"id":4,"do":"%s","key":"k"}`, word))
			h.hear(fmt.Sprintf(`{"id":4,%s}`, one.is))
			h.say(`{"id":5,"do":"alive","key":"k"}`)
			h.hear(fmt.Sprintf(`{"id":5,"is":"%s"}`, one.alive))
		}
	}
	lock := newFake()
	h := opened(t, lock, Opened{})
	for _, one := range []struct {
		err error
		is  string
	}{
		{ErrRefused, `{"id":3,"is":"refused"}`},
		{ErrRefusedUnknown, `{"id":3,"is":"refused","reason":"unknown"}`},
	} {
		lock.acquire = func(context.Context, Ask) (Grant, error) { return Grant{}, one.err }
		h.say(`{"id":3,"do":"acquire","key":"k"}`)
		h.hear(one.is)
	}
	for _, one := range []struct {
		told Released
		is   string
	}{
		{Released{OwnershipUnknown: true}, `{"id":3,"is":"released","ownership":"unknown"}`},
		{Released{Count: &count}, `{"id":3,"is":"released","count":2}`},
	} {
		lock.release = func(context.Context, Ask) (Released, error) { return one.told, nil }
		h.say(`{"id":3,"do":"release","key":"k"}`)
		h.hear(one.is)
	}
}

func TestALockIsLostByAnAnswerThatTellsNothingElse(t *testing.T) {
	lock := newFake()
	lock.renew = func(context.Context, Ask) (time.Duration, error) { return 0, Lost(io.EOF) }
	h := opened(t, lock, Opened{})
	h.say(`{"id":3,"do":"acquire","key":"k"}`)
	h.hear(`{"id":3,"is":"granted"}`)
	h.say(`{"id":4,"do":"renew","key":"k"}`)
	h.hear(`{"id":4,"is":"error","text":"*errors.errorString: EOF"}`)
	h.hearAfter(4, `{"note":"lost","key":"k","mode":"write","permits":1}`)
	h.say(`{"id":5,"do":"alive","key":"k"}`)
	h.hear(`{"id":5,"is":"not-owner"}`)
	go lock.client.Renewal(Ask{Key: "k"}, func() (time.Duration, error) {
		return 0, fmt.Errorf("no: %w", Lost(io.EOF))
	})
	h.hear(`{"note":"renewing","number":1,"key":"k"}`)
	h.say(`{"go":1}`)
	outcome := `{"is":"error","text":"*errors.errorString: EOF"}`
	h.hear(`{"note":"renewed","number":1,"outcome":` + outcome + `}`)
	h.hearAfter(5, `{"note":"lost","key":"k"}`)
}

func TestErrorsOfALibraryAreTranslated(t *testing.T) {
	wrapped := fmt.Errorf("it failed: %w", io.EOF)
	if err := Translate(wrapped, io.EOF, ErrRefused); err != ErrRefused {
		t.Error(err)
	}
	if err := Translate(wrapped, io.ErrNoProgress, ErrRefused); err != wrapped {
		t.Error(err)
	}
	if err := Translate(nil, io.EOF, ErrRefused); err != nil {
		t.Error(err)
	}
}

func TestALongErrorFitsIntoALine(t *testing.T) {
	lock := newFake()
	lock.release = func(context.Context, Ask) (Released, error) {
		return Released{}, errors.New(strings.Repeat("\x00", 1<<20))
	}
	h := opened(t, lock, Opened{})
	h.say(`{"id":3,"do":"release","key":"k"}`)
	if said := h.next(); len(said) > lineMax || !strings.HasSuffix(said, ` ..."}`) {
		t.Errorf("%d bytes", len(said))
	}
}

func TestOnlyWhatALockKnowsIsHandedOn(t *testing.T) {
	reading := `{"id":3,"do":"acquire","key":"k","mode":"read","permits":2,"wait_ms":50}`
	var asked Ask
	lock := newFake()
	lock.acquire = func(_ context.Context, ask Ask) (Grant, error) {
		asked = ask
		return Grant{}, nil
	}
	h := opened(t, lock, Opened{})
	h.say(reading)
	h.hear(`{"id":3,"is":"unsupported","text":"the lock knows no readers: 'mode' must be 'write'"}`)
	h.say(`{"id":4,"do":"acquire","key":"k","permits":2}`)
	h.hear(`{"id":4,"is":"unsupported","text":"the lock is no semaphore: 'permits' must be 1"}`)
	h.say(`{"id":5,"do":"acquire","key":"k","wait_ms":50}`)
	h.hear(`{"id":5,"is":"granted"}`)
	if asked != (Ask{"k", Write, 1, 0}) {
		t.Errorf("%+v", asked)
	}
	h = opened(t, lock, Opened{Readers: true, Permits: true, Can: []Ability{Wait}})
	h.say(reading)
	h.hear(`{"id":3,"is":"granted"}`)
	if asked != (Ask{"k", Read, 2, 50 * time.Millisecond}) {
		t.Errorf("%+v", asked)
	}
}

func TestACancelledCallIsGivenUp(t *testing.T) {
	lock := newFake()
	lock.acquire = func(ctx context.Context, ask Ask) (Grant, error) {
		<-ctx.Done()
		if ask.Key == "won" {
			return Grant{}, nil
		}
		return Grant{}, ErrRefused
	}
	h := opened(t, lock, Opened{Can: []Ability{Cancel}})
	for key, ending := range map[string]string{"won": "granted", "given up": "cancelled"} {
		h.say(fmt.Sprintf(`{"id":3,"do":"acquire","key":"%s"}`, key))
		h.say(`{"id":4,"do":"cancel","request":3}`)
		said := h.next() + h.next()
		for _, part := range []string{`{"id":4,"is":"done"}`, `{"id":3,"is":"` + ending + `"}`} {
			if !strings.Contains(said, part) {
				t.Errorf("%s lacks %s", said, part)
			}
		}
	}
	h.say(`{"id":5,"do":"alive","key":"given up"}`)
	h.hear(`{"id":5,"is":"not-owner"}`)
	h.say(`{"id":6,"do":"cancel","request":3}`)
	h.hear(`{"id":6,"is":"done"}`)
}

// full is a lock with all the methods that it may have.
type full struct {
	*fake
	servers []Server
	ended   bool
}

func (f *full) Holds(ask Ask) bool { return ask.Key == "mine" }

func (f *full) Follow(servers []Server) error {
	f.servers = servers
	return nil
}

func (f *full) Await(_ context.Context, _ string, pause, within time.Duration) error {
	if pause != 20*time.Microsecond || within != 90*time.Microsecond {
		return fmt.Errorf("%v within %v", pause, within)
	}
	return nil
}

func (f *full) EndWait(_ context.Context, _ string, granted bool) error {
	f.ended = granted
	return nil
}

func TestMethodsOfALockAreCalled(t *testing.T) {
	lock := &full{fake: newFake()}
	h := talkTo(t, func(*Client) (Opened, error) { return Opened{Lock: lock}, nil })
	h.say(opening)
	h.hear(`{"id":2,"is":"opened","can":["await"]}`)
	h.say(`{"id":3,"do":"await","key":"k","pause_us":20,"within_us":90}`)
	h.hear(`{"id":3,"is":"done"}`)
	h.say(`{"id":4,"do":"end-wait","key":"k","granted":true}`)
	h.hear(`{"id":4,"is":"done"}`)
	h.say(`{"id":5,"do":"servers","servers":[{"name":"n","address":"127.0.0.2:7"}]}`)
	h.hear(`{"id":5,"is":"done"}`)
	h.say(`{"id":6,"do":"servers","servers":[]}`)
	h.hear(`{"id":6,"is":"failed","text":"'servers' must name one server at least"}`)
	h.say(`{"id":7,"do":"alive","key":"mine"}`)
	h.hear(`{"id":7,"is":"held"}`)
	h.say(`{"id":8,"do":"alive","key":"yours"}`)
	h.hear(`{"id":8,"is":"not-owner"}`)
	if !lock.ended || lock.servers[0] != (Server{"n", "127.0.0.2", 7}) {
		t.Errorf("%+v", lock)
	}
}

func TestRenewalsPassWhileACallIsUnderWay(t *testing.T) {
	lock := newFake()
	finish := make(chan struct{})
	lock.acquire = func(context.Context, Ask) (Grant, error) {
		<-finish
		return Grant{}, nil
	}
	h := opened(t, lock, Opened{Can: []Ability{Watchdog}})
	h.say(`{"id":3,"do":"acquire","key":"k"}`)
	sent := make(chan error, 1)
	renew := func(err error) {
		go func() {
			sent <- lock.client.Renewal(Ask{Key: "k"}, func() (time.Duration, error) {
				return time.Second, err
			})
		}()
	}
	renew(nil)
	h.hear(`{"note":"renewing","number":1,"key":"k"}`)
	h.say(`{"go":1}`)
	h.hear(`{"note":"renewed","number":1,"outcome":{"is":"renewed","lease_ms":1000}}`)
	if err := <-sent; err != nil {
		t.Error(err)
	}
	renew(io.EOF)
	h.hear(`{"note":"renewing","number":2,"key":"k"}`)
	h.say(`{"skip":2}`)
	if err := <-sent; err != nil {
		t.Error("a renewal that was left out was sent")
	}
	close(finish)
	h.hear(`{"id":3,"is":"granted"}`)
	renew(ErrNotOwner)
	h.hear(`{"note":"renewing","number":3,"key":"k"}`)
	h.say(`{"go":3}`)
	h.hear(`{"note":"renewed","number":3,"outcome":{"is":"not-owner"}}`)
	if err := <-sent; !errors.Is(err, ErrNotOwner) {
		t.Error(err)
	}
	h.say(`{"id":4,"do":"alive","key":"k"}`)
	h.hear(`{"id":4,"is":"not-owner"}`)
}

func TestRenewalsAreNumberedAsTheyAreWritten(t *testing.T) {
	const renewals = 200
	lock := newFake()
	h := opened(t, lock, Opened{Can: []Ability{Watchdog}})
	var all sync.WaitGroup
	for range renewals {
		all.Add(1)
		go func() {
			defer all.Done()
			renew := func() (time.Duration, error) { return 0, nil }
			if err := lock.client.Renewal(Ask{Key: "k"}, renew); err != nil {
				t.Error(err)
			}
		}()
	}
	last := uint64(0)
	for range 2 * renewals {
		var said note
		if err := json.Unmarshal([]byte(h.next()), &said); err != nil {
			t.Fatal(err)
		}
		if said.Note == "renewing" {
			if said.Number != last+1 {
				t.Errorf("%d after %d", said.Number, last)
			}
			last = said.Number
			h.say(fmt.Sprintf(`{"go":%d}`, last))
		}
	}
	all.Wait()
}

func TestNotesAreSaidAndRemembered(t *testing.T) {
	lock := newFake()
	h := opened(t, lock, Opened{})
	stands := func(is string) {
		t.Helper()
		h.say(`{"id":9,"do":"alive","key":"k"}`)
		h.hear(`{"id":9,"is":"` + is + `"}`)
	}
	h.say(`{"id":3,"do":"acquire","key":"k"}`)
	h.next()
	ask := Ask{Key: "k", Mode: Write, Permits: 1}
	lock.client.Suspended(ask)
	h.hearAfter(3, `{"note":"suspended","key":"k","mode":"write","permits":1}`)
	stands("suspended")
	lock.client.Resumed(ask)
	h.hearAfter(9, `{"note":"resumed","key":"k","mode":"write","permits":1}`)
	stands("held")
	lock.client.Lost(Ask{Key: "k"})
	h.hearAfter(9, `{"note":"lost","key":"k"}`)
	stands("not-owner")
	lock.client.Queued("k")
	h.hear(`{"note":"queued","key":"k"}`)
	lock.client.Routed("n2", "n1", "failover")
	h.hear(`{"note":"routed","to":"n2","from":"n1","why":"failover"}`)
}

func TestOnlyAReentrantLockIsHeldTwice(t *testing.T) {
	for promise, after := range map[string]string{"reentrant": "held", "fenced": "not-owner"} {
		h := opened(t, newFake(), Opened{Promises: []string{promise}})
		for _, word := range []string{"acquire", "acquire", "release"} {
			h.say(fmt.Sprintf(`{"id":3,"do":"%s","key":"k"}`, word))
			h.next()
		}
		h.say(`{"id":4,"do":"alive","key":"k"}`)
		h.hear(fmt.Sprintf(`{"id":4,"is":"%s"}`, after))
	}
}

func TestTheEndOfInputEndsACallUnderWay(t *testing.T) {
	lock := newFake()
	entered := make(chan struct{})
	lock.acquire = func(context.Context, Ask) (Grant, error) {
		close(entered)
		select {}
	}
	h := opened(t, lock, Opened{})
	h.say(`{"id":3,"do":"acquire","key":"k"}`)
	<-entered
	h.in.Close()
	if err := h.ended(); err != nil {
		t.Error(err)
	}
}

func TestWhatWasAskedBeforeTheEndOfInputIsAnswered(t *testing.T) {
	h := opened(t, newFake(), Opened{})
	h.say(`{"id":3,"do":"acquire","key":"k"}` + "\n" + `{"id":4,"do":"release","key":"k"}`)
	h.in.Close()
	h.hear(`{"id":3,"is":"granted"}`)
	h.hear(`{"id":4,"is":"released"}`)
	if err := h.ended(); err != nil {
		t.Error(err)
	}
}

func TestBadInputIsNamed(t *testing.T) {
	for line, complaint := range map[string]string{
		`hello`:                        "line 1 of standard input: must be a JSON object",
		`{"do":"hello"}`:               "a request must have 'id', a number",
		`{"id":1}`:                     "and 'do', a word",
		`{"id":-1,"do":"hello"}`:       "cannot unmarshal number -1",
		`{"go":5}`:                     "renewal 5 must have been announced",
		strings.Repeat(" ", lineMax+1): "line 1 of standard input must have 65536 bytes at most",
	} {
		h := talkTo(t, nil)
		go io.WriteString(h.in, line+"\n")
		if err := h.ended(); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%v lacks %q", err, complaint)
		}
	}
	h := opened(t, newFake(), Opened{})
	for request, complaint := range map[string]string{
		`{"id":3,"do":"acquire"}`:                       "'key' must be",
		`{"id":3,"do":"acquire","key":"k","mode":"no"}`: "'mode' must be 'write' or 'read'",
		`{"id":3,"do":"renew","key":"k","permits":0}`:   "'permits' must be 1 or more",
		`{"id":3,"do":"cancel"}`:                        "'request' must be the number",
		opening:                                         "'open' must come once",
	} {
		h.say(request)
		if said := h.next(); !strings.Contains(said, complaint) {
			t.Errorf("%s lacks %q", said, complaint)
		}
	}
}

// TestMain is a whole adapter where a test has started it as one.
func TestMain(m *testing.M) {
	if os.Getenv("BE_AN_ADAPTER") == "" {
		os.Exit(m.Run())
	}
	Serve("noisy", "", func(*Client) (Opened, error) {
		lock := newFake()
		lock.acquire = func(context.Context, Ask) (Grant, error) {
			fmt.Println("a library speaks")
			return Grant{}, nil
		}
		go func() { select {} }()
		return Opened{Lock: lock}, nil
	})
}

func TestAProcessKeepsItsAnswersCleanAndEnds(t *testing.T) {
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), "BE_AN_ADAPTER=1")
	in, _ := process.StdinPipe()
	out, _ := process.StdoutPipe()
	var noise strings.Builder
	process.Stderr = &noise
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	defer process.Process.Kill()
	answers := bufio.NewScanner(out)
	for _, turn := range [][2]string{
		{opening, `{"id":2,"is":"opened"}`},
		{`{"id":3,"do":"acquire","key":"k"}`, `{"id":3,"is":"granted"}`},
	} {
		fmt.Fprintln(in, turn[0])
		if !answers.Scan() || answers.Text() != turn[1] {
			t.Fatalf("it said %s, and not %s", answers.Text(), turn[1])
		}
	}
	in.Close()
	if err := process.Wait(); err != nil || noise.String() != "a library speaks\n" {
		t.Error(err, noise.String())
	}
}
