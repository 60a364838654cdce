package adapter

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"time"
)

// Client is who the harness asks the adapter to be, and the way to tell it what the library says
// unasked. Its methods may be called from any goroutine, also while a call is under way.
type Client struct {
	// Name is the client's name in the scenario.
	Name string
	// Lease is the time to live of a grant; 0 for a lock that never expires.
	Lease time.Duration
	// RenewEvery is how often a watchdog is to renew; 0 where leases are not renewed.
	RenewEvery time.Duration
	// Patience is how long the scenario would wait for the reply of a server.
	Patience time.Duration
	// NodeTimeout is how long to wait for one of several servers that are asked for one lock; 0 for
	// the library's own time.
	NodeTimeout time.Duration
	// Permits is how many a semaphore has in all; 1 for a mutex.
	Permits int
	// Identity is the name by which the library is to call its owner; empty for its own.
	Identity string
	// Topology is the shape of the deployment: single, replicated, sentinel, cluster, independent.
	Topology string
	// Servers are those that take writes, in order.
	Servers []Server
	// Nodes are all servers.
	Nodes []Server
	// Sentinels is empty where there are none.
	Sentinels Sentinels
	// Seed is for whatever is drawn at random.
	Seed uint64
	// Request is the request as it came.
	Request json.RawMessage

	session *session
}

// Server is one server.
type Server struct {
	Name string
	Host string
	Port int
}

// Address returns host and port, joined by a colon.
func (s Server) Address() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// Sentinels are who knows which server is the primary.
type Sentinels struct {
	// Master is what they call the primary, whichever server it is.
	Master string
	// Sentinels are the sentinels themselves.
	Sentinels []Server
	// Servers are those that they watch over, the first primary first.
	Servers []Server
}

// Addresses returns the address of each server.
func Addresses(servers []Server) []string {
	addresses := make([]string, len(servers))
	for i, server := range servers {
		addresses[i] = server.Address()
	}
	return addresses
}

// Renewal lets a renewal of the library's own watchdog pass. It announces the renewal, waits until
// the harness says whether it is to be sent, and if so calls renew, which sends it and returns what
// [Renewer.Renew] would. A renewal that is to be left out is not sent, and passes for done: Renewal
// then returns nil.
func (c *Client) Renewal(ask Ask, renew func() (time.Duration, error)) error {
	number, send, err := c.session.announce(ask)
	if err != nil || !<-send {
		return err
	}
	lease, err := renew()
	when := c.session.now()
	outcome := renewed(lease, err)
	if endsHold(err) {
		c.session.held.lose(ask)
	}
	c.session.note(note{Note: "renewed", Number: number, Outcome: &outcome})
	if outcome.isLost {
		c.session.note(noteAt("lost", ask, when))
	}
	return err
}

// Lost tells that the library says that the lock is lost.
func (c *Client) Lost(ask Ask) {
	when := c.session.now()
	c.session.held.lose(ask)
	c.session.note(noteAt("lost", ask, when))
}

// Suspended tells that the library says that it does not know whether the lock is held.
func (c *Client) Suspended(ask Ask) {
	when := c.session.now()
	c.session.held.suspend(ask, true)
	c.session.note(noteAt("suspended", ask, when))
}

// Resumed tells that the library knows again: the lock was held all the time.
func (c *Client) Resumed(ask Ask) {
	when := c.session.now()
	c.session.held.suspend(ask, false)
	c.session.note(noteAt("resumed", ask, when))
}

// Queued tells that the client has taken a place in the queue, during Acquire or Await.
func (c *Client) Queued(key string) { c.session.note(note{Note: "queued", Key: key}) }

// Routed tells that commands go to another server from here on, or to the same over a new
// connection. From and why may be empty.
func (c *Client) Routed(to, from, why string) {
	c.session.note(note{Note: "routed", To: to, From: from, Why: why})
}

// client returns what the request says.
func (r *request) client(s *session) (*Client, error) {
	read := serverReader{}
	client := &Client{
		Name:        r.Client,
		Lease:       milliseconds(r.LeaseMS),
		RenewEvery:  milliseconds(r.RenewEveryMS),
		Patience:    milliseconds(r.ReplyTimeoutMS),
		NodeTimeout: milliseconds(r.NodeTimeoutMS),
		Permits:     max(r.Permits, 1),
		Identity:    r.Identity,
		Topology:    r.Topology,
		Servers:     read.servers("servers", r.Servers),
		Nodes:       read.servers("nodes", r.Nodes),
		Sentinels: Sentinels{
			Master:    r.Sentinels.Master,
			Sentinels: read.servers("sentinels", r.Sentinels.Sentinels),
			Servers:   read.servers("servers of sentinels", r.Sentinels.Servers),
		},
		Seed:    r.Seed,
		Request: r.raw,
		session: s,
	}
	if read.err == nil && len(client.Servers) == 0 {
		read.err = Failed(fmt.Errorf("'servers' must name one server at least"))
	}
	return client, read.err
}

// serverReader reads servers, and keeps the first thing that is wrong with them.
type serverReader struct{ err error }

func (r *serverReader) servers(field string, wired []wiredServer) []Server {
	servers := make([]Server, len(wired))
	for i, one := range wired {
		host, digits, err := net.SplitHostPort(one.Address)
		port, noPort := strconv.ParseUint(digits, 10, 16)
		if (err != nil || noPort != nil) && r.err == nil {
			r.err = Failed(fmt.Errorf("'address' of '%s' must be host:port, and is %q", field,
				one.Address))
		}
		servers[i] = Server{Name: one.Name, Host: host, Port: int(port)}
	}
	return servers
}
