package adapter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// protocol is the newest version that this kit speaks.
	protocol = 2
	// waitingMax is the most requests that may wait for the one under way; the harness sends one.
	waitingMax = 16
	// endsWithin is how long what was asked before the input ended may take: a script that pipes a
	// few requests in gets its answers, and a call that hangs keeps no process.
	endsWithin = time.Second
)

// session is the conversation with the harness.
type session struct {
	name, version string
	open          func(*Client) (Opened, error)

	lines    lines
	protocol int
	opened   *Opened
	held     *ledger
	// last is the last request that was read, or nil.
	last atomic.Pointer[heard]

	mu sync.Mutex
	// underWay ends the requests that are not answered yet, by number.
	underWay map[uint64]context.CancelFunc
	// renewals is the number of the last renewal that was announced.
	renewals uint64
	// announced gets the word about each renewal that waits for one.
	announced map[uint64]chan<- bool
}

// call is a request that is to be carried out.
type call struct {
	*request
	ctx context.Context
}

func newSession(
	out io.Writer, name, version string, open func(*Client) (Opened, error),
) *session {
	return &session{
		name:      name,
		version:   version,
		open:      open,
		lines:     lines{out: out},
		held:      newLedger(),
		underWay:  map[uint64]context.CancelFunc{},
		announced: map[uint64]chan<- bool{},
	}
}

// run converses until the harness closes or the input ends.
func (s *session) run(in io.Reader) error {
	calls := make(chan call, waitingMax)
	listened, worked := make(chan error, 1), make(chan error, 1)
	go func() { listened <- s.listen(in, calls) }()
	go func() { worked <- s.work(calls) }()
	select {
	case err := <-worked:
		return err
	case err := <-listened:
		if err != nil {
			return err
		}
	}
	select {
	case err := <-worked:
		return err
	case <-time.After(endsWithin):
		return nil
	}
}

// listen reads all lines, and closes the calls at the end of them. What may come while a request is
// under way it handles at once.
func (s *session) listen(in io.Reader, calls chan<- call) error {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(make([]byte, 0, 4096), lineMax+len("\n"))
	number := 1
	for ; scanner.Scan(); number++ {
		if err := s.hear(scanner.Bytes(), time.Now(), calls); err != nil {
			return fmt.Errorf("line %d of standard input: %w", number, err)
		}
	}
	switch err := scanner.Err(); {
	case err == nil:
		close(calls)
		return nil
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("line %d of standard input must have %d bytes at most", number, lineMax)
	default:
		return err
	}
}

func (s *session) hear(line []byte, at time.Time, calls chan<- call) error {
	read, err := readRequest(line)
	switch {
	case err != nil:
		return err
	case read.Go != nil:
		return s.decide(*read.Go, true)
	case read.Skip != nil:
		return s.decide(*read.Skip, false)
	default:
		s.last.Store(&heard{*read.ID, at})
		return s.receive(read, calls)
	}
}

// receive passes a request on, and cancels one at once.
func (s *session) receive(read *request, calls chan<- call) error {
	if read.Do == "cancel" {
		return s.say(read, s.cancel(read))
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.mu.Lock()
	s.underWay[*read.ID] = cancel
	s.mu.Unlock()
	calls <- call{read, ctx}
	return nil
}

// cancel gives a request up, if it is still under way.
func (s *session) cancel(r *request) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Request == nil {
		return meaning(Failed(errors.New("'request' must be the number of a request")))
	}
	if cancel, isUnderWay := s.underWay[*r.Request]; isUnderWay {
		cancel()
	}
	return answer{Is: "done"}
}

// work carries requests out, one after the other.
func (s *session) work(calls <-chan call) error {
	for call := range calls {
		is := s.answer(call)
		when := s.now()
		s.mu.Lock()
		cancel := s.underWay[*call.ID]
		delete(s.underWay, *call.ID)
		s.mu.Unlock()
		if call.ctx.Err() != nil && !hasEffect(is) {
			is = answer{Is: "cancelled", isLost: is.isLost}
		}
		cancel()
		if err := s.say(call.request, is); err != nil || call.Do == "close" {
			return err
		}
		if is.isLost {
			s.note(noteAt("lost", call.ask(), when))
		}
	}
	return nil
}

// hasEffect tells whether a call that was given up ended well all the same. Whatever else it says
// may come of its being given up.
func hasEffect(is answer) bool {
	return slices.Contains([]string{"granted", "renewed", "released", "done"}, is.Is)
}

// now returns the present moment, or nil where no request was read yet.
func (s *session) now() *moment { return s.last.Load().now() }

func (s *session) say(r *request, is answer) error {
	is.ID = r.ID
	return s.lines.write(is)
}

// note writes a note. Where nobody listens any more, the next answer shows it.
func (s *session) note(note note) { _ = s.lines.write(note) }

// announce announces a renewal, and returns its number and where the word about it will be.
func (s *session) announce(ask Ask) (uint64, <-chan bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewals++
	word := make(chan bool, 1)
	s.announced[s.renewals] = word
	renewing := noteOf("renewing", ask)
	renewing.Number = s.renewals
	return s.renewals, word, s.lines.write(renewing)
}

// decide hands on the word about a renewal.
func (s *session) decide(number uint64, send bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	word, isAnnounced := s.announced[number]
	if !isAnnounced {
		return fmt.Errorf("renewal %d must have been announced and not decided yet", number)
	}
	delete(s.announced, number)
	word <- send
	return nil
}

func (s *session) answer(c call) answer {
	switch {
	case c.Do == "hello":
		s.protocol = min(protocol, max(c.Protocol, 1))
		return answer{Is: "hello", Protocol: s.protocol, Name: s.name, Version: s.version}
	case c.Do == "close":
		return answer{Is: "done"}
	case c.Do == "open" && s.opened == nil:
		return s.introduce(c)
	case c.Do == "open":
		return meaning(Unsupported("'open' must come once"))
	case s.opened == nil:
		return meaning(Unsupported(fmt.Sprintf("'open' must come before '%s'", c.Do)))
	default:
		return s.carryOut(c)
	}
}

// carryOut does what is asked of an open client.
func (s *session) carryOut(c call) answer {
	switch c.Do {
	case "acquire", "renew", "release", "alive":
		return s.askLock(c)
	case "touch":
		return answer{Is: "done"}
	case "servers":
		return s.follow(c)
	case "await", "end-wait":
		return s.await(c)
	default:
		return meaning(Unsupported(fmt.Sprintf("'%s' is not known", c.Do)))
	}
}

// introduce opens the client.
func (s *session) introduce(c call) answer {
	client, err := c.client(s)
	if err != nil {
		return meaning(err)
	}
	opened, err := s.open(client)
	if err != nil {
		return meaning(err)
	}
	s.opened = &opened
	s.held.reentrant = slices.Contains(opened.Promises, "reentrant")
	return answer{
		Is:              "opened",
		Can:             opened.abilities(s.protocol),
		Promises:        opened.Promises,
		Denies:          opened.Denies,
		AnswersWithinMS: opened.AnswersWithin.Milliseconds(),
		ServerKey:       opened.ServerKey,
	}
}

// abilities returns what the adapter names, and what follows from the methods of its lock. Version
// 1 of the protocol does not know how to cancel.
func (o *Opened) abilities(protocol int) []Ability {
	abilities := slices.Clone(o.Can)
	if _, awaits := o.Lock.(Waiter); awaits {
		abilities = append(abilities, "await")
	}
	return slices.DeleteFunc(abilities, func(a Ability) bool { return a == Cancel && protocol < 2 })
}

func (o *Opened) can(ability Ability) bool { return slices.Contains(o.Can, ability) }

func (s *session) follow(c call) answer {
	follower, follows := s.opened.Lock.(Follower)
	if !follows {
		return meaning(Unsupported("it stays with its servers"))
	}
	read := serverReader{}
	servers := read.servers("servers", c.Servers)
	if read.err == nil && len(servers) == 0 {
		read.err = Failed(errors.New("'servers' must name one server at least"))
	}
	if read.err != nil {
		return meaning(read.err)
	}
	return done(follower.Follow(servers))
}

func (s *session) await(c call) answer {
	waiter, waits := s.opened.Lock.(Waiter)
	switch {
	case !waits:
		return meaning(Unsupported("it does not know when to try again"))
	case c.Do == "end-wait":
		return done(waiter.EndWait(c.ctx, c.Key, c.Granted))
	default:
		pause := time.Duration(c.PauseUS) * time.Microsecond
		within := time.Duration(c.WithinUS) * time.Microsecond
		return done(waiter.Await(c.ctx, c.Key, pause, within))
	}
}

func done(err error) answer {
	if err != nil {
		return meaning(err)
	}
	return answer{Is: "done"}
}

// askLock does what a request asks of the lock.
func (s *session) askLock(c call) answer {
	ask, err := s.opened.checked(c.ask())
	if err != nil {
		return meaning(err)
	}
	switch c.Do {
	case "acquire":
		return s.acquire(c.ctx, ask)
	case "renew":
		return s.renew(c.ctx, ask)
	case "release":
		return s.release(c.ctx, ask)
	default:
		return s.alive(ask)
	}
}

func (s *session) acquire(ctx context.Context, ask Ask) answer {
	grant, err := s.opened.Lock.Acquire(ctx, ask)
	if err != nil {
		return meaning(err)
	}
	s.held.gain(ask)
	return granted(grant)
}

func (s *session) renew(ctx context.Context, ask Ask) answer {
	renewer, renews := s.opened.Lock.(Renewer)
	if !renews {
		return meaning(Unsupported("it does not renew"))
	}
	lease, err := renewer.Renew(ctx, ask)
	if endsHold(err) {
		s.held.lose(ask)
	}
	return renewed(lease, err)
}

func (s *session) release(ctx context.Context, ask Ask) answer {
	told, err := s.opened.Lock.Release(ctx, ask)
	if endsHold(err) {
		s.held.lose(ask)
	}
	if err != nil {
		return meaning(err)
	}
	s.held.giveBack(ask, told)
	return released(told)
}

func (s *session) alive(ask Ask) answer {
	holder, knows := s.opened.Lock.(Holder)
	switch {
	case !knows:
		return s.held.standing(ask)
	case holder.Holds(ask):
		return answer{Is: "held"}
	default:
		return answer{Is: "not-owner"}
	}
}
