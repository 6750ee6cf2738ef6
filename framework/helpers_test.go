package framework_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// The times of a client made by newClient, as its session and the library
// divide it.
const (
	sessionTimeout = 9 * time.Second
	pingInterval   = sessionTimeout / 3
	noticesMute    = sessionTimeout * 2 / 3                // after the last sign of life from the server
	trusted        = sessionTimeout - 900*time.Millisecond // after the sending of the last answered request
)

// bubble runs a test in virtual time with a server and a connected client of
// it, both closed at the end.
func bubble(t *testing.T, test func(t *testing.T, srv *zktest.Server, c *framework.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		c := newClient(t, srv)
		require.NoError(t, c.WaitConnected(t.Context()))
		test(t, srv, c)
	})
}

// serverOnly runs a test in virtual time with a server, for clients with
// options of their own.
func serverOnly(t *testing.T, test func(t *testing.T, srv *zktest.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, zktest.Start(t)) })
}

// newClient returns a client with a session of 9 seconds: pings every 3, a mute
// server is noticed after 6.
func newClient(t *testing.T, srv *zktest.Server, opts ...framework.Option) *framework.Client {
	t.Helper()
	c, err := framework.New(srv.Addr(), append([]framework.Option{
		framework.WithDialer(srv.Dialer()),
		framework.WithSessionTimeout(sessionTimeout),
	}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// mustCreate makes a node for a test to work on.
func mustCreate(t *testing.T, c *framework.Client, path, data string, opts ...framework.CreateOption) framework.Created {
	t.Helper()
	n, err := c.Create(t.Context(), path, []byte(data), opts...)
	require.NoError(t, err)
	return n
}

// another returns a second, undisturbed client of the same server, connected.
func another(t *testing.T, srv *zktest.Server) *framework.Client {
	t.Helper()
	c := newClient(t, srv)
	require.NoError(t, c.WaitConnected(t.Context()))
	return c
}

// history is what a reader of States has seen.
type history struct {
	mu     sync.Mutex
	states []state.State
	times  []time.Time
}

// observe starts to read a client's states, all those after this call.
func observe(t *testing.T, c *framework.Client) *history {
	t.Helper()
	h := &history{}
	seq := c.States(t.Context())
	go func() {
		for s := range seq {
			h.mu.Lock()
			h.states = append(h.states, s)
			h.times = append(h.times, time.Now())
			h.mu.Unlock()
		}
	}()
	return h
}

// seen returns the states so far, once everything has settled.
func (h *history) seen() []state.State {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]state.State(nil), h.states...)
}

// when returns the time at which the i-th state was seen.
func (h *history) when(i int) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.times[i]
}

// outage cuts every connection and keeps clients out for d.
func outage(srv *zktest.Server, d time.Duration) {
	srv.RefuseConnections(true)
	srv.CutAll()
	time.Sleep(d)
	srv.RefuseConnections(false)
}

// ops returns the types of the requests that the server has got, without pings
// and handshakes.
func ops(srv *zktest.Server) []zktest.Op {
	var list []zktest.Op
	for _, r := range srv.Requests() {
		if r.Op != zkinside.OpPing && r.Op != zktest.OpConnect {
			list = append(list, r.Op)
		}
	}
	return list
}

func requireConfigError(t *testing.T, err error, name string) {
	t.Helper()
	var wrong *framework.ConfigError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, name, wrong.Name)
}
