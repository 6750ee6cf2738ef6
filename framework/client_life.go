package framework

import (
	"context"
	"runtime/pprof"
	"time"

	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/internal/broadcast"
	"github.com/gocurator/curator/internal/hooks"
)

// New returns a client of the ensemble named by a connection string such as
// "zk1:2181,zk2:2181,zk3:2181/shop": servers with optional ports, and an
// optional chroot that is put before every path. It starts to connect and does
// not wait: operations wait for the connection, and so does WaitConnected.
//
// Empty parts between commas are ignored. An IPv6 address needs brackets, such as
// "[::1]:2181", which separate it from the port.
//
// As in Curator, a missing chroot is created with its first node. The client then logs a
// warning: if the chroot was mistyped, no other client uses this tree, and the client's
// locks exclude no other client.
//
// The error of an invalid connection string or option is a *ConfigError.
func New(connectString string, opts ...Option) (*Client, error) {
	cfg := defaultConfig()
	for _, opt := range opts {
		if opt == nil {
			return nil, isNil("option")
		}
		opt(&cfg)
	}
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	addresses, chroot, err := parseConnectString(connectString)
	if err != nil {
		return nil, err
	}
	c := newClient(cfg, addresses, chroot)
	for _, h := range hookClientOpened.Of(c) {
		h.ClientOpened(Extend(c))
	}
	c.spawn(func(ctx context.Context) {
		pprof.SetGoroutineLabels(ctx) // goroutines that it starts inherit the labels
		c.supervise()
	})
	return c, nil
}

// Connect returns a client that has a connection and a session. It is New
// followed by Client.WaitConnected: a service that starts with Connect knows
// that its ensemble was there. The parameters are New's.
//
//	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
//	defer cancel()
//	client, err := framework.Connect(ctx, "zk1:2181,zk2:2181,zk3:2181/shop")
//	if err != nil {
//		return err // says why the last attempt failed
//	}
//	defer client.Close()
//
// The context bounds the wait and nothing else: the client lives until Close. Without a
// deadline, Connect waits until a server answers.
//
// An error is one of these:
//
//   - A *ConfigError, at once and without an attempt: the connection string or
//     an option cannot be used.
//   - An *OpError that matches ErrNotConnected and ctx.Err(): ctx has ended. The error
//     includes the reason why the last attempt failed, such as syscall.ECONNREFUSED,
//     which errors.Is finds.
//   - An *OpError that matches zk.ErrAuthFailed, as soon as the servers have
//     refused the credentials: waiting does not help then.
//
// In each case the returned client is nil, and Connect has closed the client, which
// takes a second at most: no goroutine and no connection is left. If a session was
// granted by then, Connect ends the session, as Client.Close does. In one case a
// session remains: if the grant was still on its way when ctx ended, the client does
// not know the session, which has no nodes and times out at the server.
func Connect(ctx context.Context, connectString string, opts ...Option) (*Client, error) {
	c, err := New(connectString, opts...)
	if err != nil {
		return nil, err
	}
	if err := c.WaitConnected(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func newClient(cfg config, addresses []string, chroot string) *Client {
	c := &Client{
		core: &core{
			cfg:        cfg,
			addresses:  addresses,
			serverList: newServerList(addresses, cfg.servers),
			last:       broadcast.New(clienttrace.StateChange{}),
			refusal:    newRefusal(),
			over:       make(chan struct{}),
			hooks:      hooks.NewList(withLog(cfg.logger, cfg.hooks)),
			persistent: watches.NewPersistent(),
			auth:       cfg.auth,
		},
		chroot: chroot,
	}
	c.root = c
	c.ctx, c.cancel = context.WithCancelCause(labelled(context.Background(), cfg.serviceName, c.servers()))
	c.retry = stoppable{cfg.retry, c.ctx.Done()}
	return c
}

// Close ends the session, and with it every ephemeral node and watch of this client,
// and returns when all goroutines of the client have ended. The contexts of sessions
// and leases end first, with ErrClosed as their cause. Operations under way return
// ErrClosed; the client gives up guaranteed deletes that are not done.
//
// Without a connection, Close connects to a server to end the session there, and tries
// that for a second at most. If Close reaches no server, the nodes stay until the
// session times out. Session.AwaitEnd reports whether a server has ended the session.
// Close does not end a lost session at the servers, because holders need the remaining
// time to stop.
//
// Close deletes the other ephemeral nodes and leaves the session to the servers, which
// end it when its timeout is over, in two cases:
//
//   - A lock has a minimum hold that is not over; see locks.ReleasePolicy.
//   - A lease was lost less than the safety margin ago, for example to an
//     interruption under state.StandardPolicy, and was not released since: its holder
//     may still be stopping.
//
// If Close itself ends a lease, the next holder may be admitted as soon as Close is
// called. Before Close, stop the work and release its leases.
//
// Servers do not survive the end of a session that has more than about two
// megabytes of paths of ephemeral nodes (ZOOKEEPER-4306): delete them before Close.
//
// When Close returns, the log has every line, and the hooks have every event. If a call
// of the client's emitter blocks, Close waits for a second and then returns; the emitter
// makes the remaining calls when the blocked call returns. A hook that blocks in an
// operation of background work delays Close.
//
// Close may be called several times, on any view, because all views are one client. It
// always returns nil.
//
// A client that is not closed leaves goroutines behind. In a bubble of
// testing/synctest, the test then panics, and package testing/zktest names the client
// and the place of its creation in the test's log. The label "curator.client" of the
// goroutines has the same text, in profiles and, with GODEBUG=tracebacklabels=1, in
// traces.
func (c *Client) Close() error {
	c.mu.Lock()
	s, second := c.session, c.closed
	c.closed = true
	c.cancel(ErrClosed)
	if s != nil && !second {
		s.runAfterFuncsLocked()
	}
	c.mu.Unlock()
	if second {
		<-c.over
		return nil
	}
	if s != nil {
		s.close()
	}
	c.goroutines.Wait()
	for _, h := range hookClientClosed.Of(c.root) {
		c.emitter.post(func() { h.ClientClosed(Extend(c.root)) })
	}
	c.emitter.await(emitTimeout)
	close(c.over)
	return nil
}

// emitTimeout is how long Close waits for the emitter.
const emitTimeout = time.Second
