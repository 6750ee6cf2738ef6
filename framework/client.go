package framework

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/framework/internal/connstate"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/internal/broadcast"
	"github.com/gocurator/curator/internal/hooks"
	"github.com/gocurator/curator/retry"
)

// Client is a managed connection to a ZooKeeper ensemble. A Client has one session at a time,
// and opens a new session when the old one is lost. A Client is safe for concurrent use, and
// must be closed. Namespace returns further views, which share the session. The zero Client
// cannot be used; New and Connect make one.
//
// # What a context carries
//
//   - A deadline. Every operation returns when its context ends. A request that was
//     sent cannot be recalled: a write then returns an error that matches
//     [ErrOutcomeUnknown]. The client cleans up after operations [WithProtection] and
//     [WithGuarantee] in the background, on no caller's context.
//   - A session. Inside [Client.InSession], no operation of the client is
//     carried out in a later session, not even by a retry.
//   - A lease. The context of a held lock ends when the lock can no longer be trusted.
//     The lease's context has the values of the acquire's context, but not its
//     deadline. LeaseFromContext returns the lease. An acquire of the same lock under
//     that context re-enters the lock. Any other acquire is another contender, even in
//     the same goroutine.
//   - A span, which a tracer adds as the parent of the operations' spans.
//
// # Concurrency
//
// Readers of [Client.States] receive every transition in order, and never delay the
// client. Hooks, log handlers and other functions of the program must return soon: the
// section "Your code" of the package documentation has the rule. Close returns when all
// goroutines of the client have ended. A connection has at most 768 requests or 4 MiB
// under way; further requests wait.
type Client struct {
	*core
	chroot string // the prefix of every path of this view; may be empty
}

// core is the part of a client that all views share: everything except the prefix of
// their paths.
type core struct {
	cfg        config
	addresses  []string // from the connection string
	serverList *serverList
	root       *Client // the view that New returned

	ctx    context.Context // Close ends it, with ErrClosed as the cause
	cancel context.CancelCauseFunc
	retry  retry.Policy // the configured policy, whose pauses end with ctx

	goroutines sync.WaitGroup // all goroutines of this client; see spawn
	emitter    emitter
	over       chan struct{} // closed when Close is done
	cleanups   cleanups      // pending work in the background
	givenUp    givenUp
	hooks      *hooks.List
	persistent *watches.Persistent
	slept      atomic.Int64 // for how long the machine has been suspended; see now

	mu          sync.Mutex // protects the following fields
	closed      bool       // no goroutine may be added
	machine     connstate.Machine
	last        *broadcast.Node[clienttrace.StateChange] // the present state; later states follow
	session     *Session                                 // the newest, connected or not
	earlierZxid int64                                    // LastZxid at the end of the previous session
	attempt     error                                    // why the last attempt to connect failed, or nil
	refusal     refusal
	outage      outage
	attempts    attempts
	auth        []transport.Credentials
}

// newest returns the newest session, connected or not, or nil if there was none yet.
// The session may be over.
func (c *core) newest() *Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// spawn runs f in a goroutine. Close ends ctx and waits for the goroutine. If the
// client is closed, spawn starts nothing and returns false.
func (c *core) spawn(f func(ctx context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.goroutines.Go(func() { f(c.ctx) })
	return true
}

// SessionID returns the id of the present session. It returns 0 before the first
// session is connected, and between the loss of a session and the next one.
func (c *Client) SessionID() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil || c.session.isLostLocked() {
		return 0
	}
	return c.session.id
}

// LastZxid returns the newest zxid of all answers to this client, in any session, or 0 before
// the first answer. A client that has seen this transaction has seen everything that this
// client has written and read.
func (c *Client) LastZxid() int64 {
	c.mu.Lock()
	s, earlier := c.session, c.earlierZxid
	c.mu.Unlock()
	if s == nil {
		return earlier
	}
	return max(earlier, s.link.LastZxid())
}

// attemptedLocked records the result of the last attempt to connect. It returns the
// duration of the outage if the outage must be logged, otherwise 0.
func (c *core) attemptedLocked(err error) (outage time.Duration) {
	c.attempt = err
	c.refusal.attempted(err)
	return c.outage.attempted(err, c.cfg.sessionTimeout)
}

func (c *Client) servers() string { return strings.Join(c.addresses, ",") }
