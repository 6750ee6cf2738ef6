//go:build real

package interop_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// These tests run Java Curator's own recipes between two Java processes. zktest
// must provide everything that they need of a server. The same scenarios on the
// real server show that the tests are right.

// shortWaitMs is how long to wait for something that must not happen.
const shortWaitMs = 200 // milliseconds

// waitLimitMs is how long Java waits for something that must happen.
var waitLimitMs = waitLimit.Milliseconds()

// javaPair runs a scenario of two Java processes on both servers.
func javaPair(t *testing.T, scenario func(t *testing.T, srv *testServer, path string, one, two *peer)) {
	t.Helper()
	onFakeAndReal(t, func(t *testing.T, srv *testServer) {
		one, two := startPeer(t, srv.addr, longSession), startPeer(t, srv.addr, longSession)
		scenario(t, srv, lockPath(t), one, two)
	})
}

// timesOut requires that Java gives up waiting.
func (p *peer) timesOut(t *testing.T, command ...any) {
	t.Helper()
	_, err := p.ask(withDeadline(t), command...)
	require.ErrorIs(t, err, errTimeout)
}

// Many threads of two processes compete for a semaphore, a read/write lock and
// a mutex at the same time.
func TestJavaContentionOnItsOwn(t *testing.T) {
	javaPair(t, func(t *testing.T, srv *testServer, path string, one, two *peer) {
		contenders := []struct{ kind, path string }{
			{"lease-2", "-leases"}, {"lease-2", "-leases"}, {"lease-2", "-leases"},
			{"read", "-sides"}, {"write", "-sides"}, {"read", "-sides"},
			{"mutex", "-mutex"}, {"mutex", "-mutex"},
		}
		ended := make(chan error)
		for i, c := range contenders {
			for _, p := range []*peer{one, two} {
				go func() { ended <- p.cycleLock(t.Context(), fmt.Sprint(c.kind, i), path+c.path, c.kind) }()
			}
		}
		for range 2 * len(contenders) {
			require.NoError(t, <-ended)
		}
		for _, below := range []string{"-leases/leases", "-leases/locks", "-sides", "-mutex"} {
			srv.requireNothingLeft(t, path+below)
		}
	})
}

// cycleLock acquires and releases a few times.
func (p *peer) cycleLock(ctx context.Context, name, path, kind string) error {
	for range 8 {
		if _, err := p.ask(ctx, "acquire", name, path, waitLimitMs, kind); err != nil {
			return err
		}
		if _, err := p.ask(ctx, "release", name); err != nil {
			return err
		}
	}
	return nil
}
