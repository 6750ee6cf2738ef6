//go:build real

package framework_test

import (
	"crypto/tls"
	"path/filepath"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/zkserver"
)

func init() { closeShared = append(closeShared, zkserver.CloseShared) }

// sharedServer returns the real server that tests use at the same time, each
// below its chroot.
func sharedServer(t *testing.T) *zkserver.Server {
	t.Helper()
	return zkserver.Shared(t, zkserver.WithProperty("reconfigEnabled", "true"))
}

// A lane lends servers to as many tests at the same time as it has room for. The
// others wait, which costs less than servers that have to start for them.
type lane chan struct{}

var (
	serverLane   = make(lane, 3)
	tlsLane      = make(lane, 1)
	ensembleLane = make(lane, 1) // tests that take a few seconds
	minorityLane = make(lane, 1) // tests that wait until a minority gives up
	contactLane  = make(lane, 3) // tests that wait for sessions, for long
)

// enter waits for room, which the test leaves when it ends.
func (l lane) enter(t *testing.T) {
	t.Helper()
	l <- struct{}{}
	t.Cleanup(func() { <-l })
}

// borrowServer returns a real server that this test may stop and pause.
func borrowServer(t *testing.T) *zkserver.Server {
	t.Helper()
	serverLane.enter(t)
	return zkserver.Borrow(t)
}

// borrowTLSServer is borrowServer with a port for TLS.
func borrowTLSServer(t *testing.T, auth tls.ClientAuthType) *zkserver.Server {
	t.Helper()
	tlsLane.enter(t)
	return zkserver.Borrow(t, zkserver.WithTLS(auth))
}

// patient is longer than any test cuts servers off from one another: they do
// not give each other up.
const patient = time.Minute

// serverTick is the tick of real servers, unless a test sets another.
const serverTick = 100 * time.Millisecond

// borrowEnsemble returns three real servers that this test may stop, pause and
// cut off from one another. A server that loses the others notices it after
// the time sync. A test that sets another tick has to set the limits, too.
func borrowEnsemble(t *testing.T, l lane, sync time.Duration, opts ...zkserver.Option) *zkserver.Ensemble {
	t.Helper()
	l.enter(t)
	opts = append([]zkserver.Option{
		zkserver.WithLinks(),
		zkserver.WithInitLimit(int(20 * time.Second / serverTick)),
		zkserver.WithSyncLimit(int(sync / serverTick)),
	}, opts...)
	return zkserver.BorrowEnsemble(t, 3, opts...)
}

// chroot is the path that all clients of a test work below. No other test uses
// it, nor does another run of the test.
func chroot(t *testing.T) string {
	t.Helper()
	return "/" + filepath.Base(filepath.Dir(t.TempDir()))
}
