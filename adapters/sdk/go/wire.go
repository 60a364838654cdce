package adapter

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
)

// lineMax is the most bytes of a line.
const lineMax = 65536

// request is a line that the harness writes: a request, or the word about a renewal.
type request struct {
	Go   *uint64 `json:"go"`
	Skip *uint64 `json:"skip"`

	ID       *uint64 `json:"id"`
	Do       string  `json:"do"`
	Protocol int     `json:"protocol"`
	Request  *uint64 `json:"request"`

	Key      string `json:"key"`
	Mode     Mode   `json:"mode"`
	Permits  int    `json:"permits"`
	WaitMS   int64  `json:"wait_ms"`
	PauseUS  int64  `json:"pause_us"`
	WithinUS int64  `json:"within_us"`
	Granted  bool   `json:"granted"`

	Client         string        `json:"client"`
	LeaseMS        int64         `json:"lease_ms"`
	RenewEveryMS   int64         `json:"renew_every_ms"`
	ReplyTimeoutMS int64         `json:"reply_timeout_ms"`
	NodeTimeoutMS  int64         `json:"node_timeout_ms"`
	Identity       string        `json:"identity"`
	Topology       string        `json:"topology"`
	Servers        []wiredServer `json:"servers"`
	Nodes          []wiredServer `json:"nodes"`
	Sentinels      wiredWatch    `json:"sentinels"`
	Seed           uint64        `json:"seed"`

	raw json.RawMessage
}

type wiredServer struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

type wiredWatch struct {
	Master    string        `json:"master"`
	Sentinels []wiredServer `json:"sentinels"`
	Servers   []wiredServer `json:"servers"`
}

// readRequest reads a line.
func readRequest(line []byte) (*request, error) {
	read := request{Mode: Write, Permits: 1}
	if err := json.Unmarshal(line, &read); err != nil {
		return nil, fmt.Errorf("must be a JSON object of the adapter protocol: %w", err)
	}
	isWord := read.Go != nil || read.Skip != nil
	if !isWord && (read.ID == nil || read.Do == "") {
		return nil, fmt.Errorf("a request must have 'id', a number, and 'do', a word")
	}
	read.raw = append(json.RawMessage(nil), line...)
	return &read, nil
}

func (r *request) ask() Ask {
	return Ask{Key: r.Key, Mode: r.Mode, Permits: r.Permits, Wait: milliseconds(r.WaitMS)}
}

// answer is what comes of a request, or of a renewal.
type answer struct {
	ID *uint64 `json:"id,omitempty"`
	Is string  `json:"is"`

	Text     string `json:"text,omitempty"`
	Protocol int    `json:"protocol,omitempty"`
	Name     string `json:"name,omitempty"`
	Version  string `json:"version,omitempty"`

	Can             []Ability `json:"can,omitempty"`
	Promises        []string  `json:"promises,omitempty"`
	Denies          []string  `json:"denies,omitempty"`
	AnswersWithinMS int64     `json:"answers_within_ms,omitempty"`
	ServerKey       string    `json:"server_key,omitempty"`

	LeaseMS   *int64   `json:"lease_ms,omitempty"`
	Token     *uint64  `json:"token,omitempty"`
	Marks     []mark   `json:"marks,omitempty"`
	By        []string `json:"by,omitempty"`
	WaitedMS  int64    `json:"waited_ms,omitempty"`
	Until     string   `json:"until,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	Ownership string   `json:"ownership,omitempty"`
	Count     *int     `json:"count,omitempty"`

	// isLost says that the note `lost` has to follow: it is the answer that tells the loss.
	isLost bool
}

func granted(grant Grant) answer {
	marks := make([]mark, len(grant.Marks))
	for i, text := range grant.Marks {
		marks[i] = mark(text)
	}
	until := ""
	if grant.UntilSessionEnd {
		until = "session-end"
	}
	return answer{
		Is:       "granted",
		LeaseMS:  leaseMS(grant.Lease),
		Token:    grant.Token,
		Marks:    marks,
		By:       grant.By,
		WaitedMS: grant.Waited.Milliseconds(),
		Until:    until,
	}
}

func renewed(lease time.Duration, err error) answer {
	if err != nil {
		return meaning(err)
	}
	return answer{Is: "renewed", LeaseMS: leaseMS(lease)}
}

func released(told Released) answer {
	is := answer{Is: "released", Count: told.Count}
	if told.OwnershipUnknown {
		is.Ownership = "unknown"
	}
	return is
}

// leaseMS says for how long a lease is good: one that is over already is good for no time.
func leaseMS(lease time.Duration) *int64 {
	if lease == 0 {
		return nil
	}
	left := max(lease, 0).Milliseconds()
	return &left
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// mark is a value by which servers know a holder.
type mark string

// MarshalJSON writes a text as it is, and anything else in base 64.
func (m mark) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(m)) {
		return json.Marshal(string(m))
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(m))
	return json.Marshal(map[string]string{"base64": encoded})
}

// note is what the adapter says unasked.
type note struct {
	Note    string  `json:"note"`
	Number  uint64  `json:"number,omitempty"`
	Key     string  `json:"key,omitempty"`
	Mode    Mode    `json:"mode,omitempty"`
	Permits int     `json:"permits,omitempty"`
	Outcome *answer `json:"outcome,omitempty"`
	To      string  `json:"to,omitempty"`
	From    string  `json:"from,omitempty"`
	Why     string  `json:"why,omitempty"`
	*moment
}

func noteOf(word string, ask Ask) note {
	return note{Note: word, Key: ask.Key, Mode: ask.Mode, Permits: ask.Permits}
}

// noteAt returns a note of what the library told of a lock, and when.
func noteAt(word string, ask Ask, when *moment) note {
	told := noteOf(word, ask)
	told.moment = when
	return told
}

// lines writes messages, each as a whole line.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lines) write(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.out.Write(append(line, '\n'))
	return err
}

// takeStandardOutput returns what was standard output, and sends what is written there from now on
// to standard error, so that nothing gets among the answers.
func takeStandardOutput() (*os.File, error) {
	fd, err := syscall.Dup(syscall.Stdout)
	if err != nil {
		return nil, fmt.Errorf("standard output cannot be had: %w", err)
	}
	syscall.CloseOnExec(fd)
	if err := syscall.Dup3(syscall.Stderr, syscall.Stdout, 0); err != nil {
		return nil, fmt.Errorf("standard output cannot be sent to standard error: %w", err)
	}
	return os.NewFile(uintptr(fd), "answers"), nil
}
