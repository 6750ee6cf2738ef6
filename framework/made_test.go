package framework_test

import (
	"fmt"
	"regexp"
	"runtime/pprof"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// endingTest is a test that ends when its method end is called.
type endingTest struct {
	*testing.T
	cleanups []func()
	log      []string
}

func (e *endingTest) Cleanup(f func()) { e.cleanups = append(e.cleanups, f) }
func (e *endingTest) Logf(format string, args ...any) {
	e.log = append(e.log, fmt.Sprintf(format, args...))
}

func (e *endingTest) end() {
	for i := range e.cleanups {
		e.cleanups[len(e.cleanups)-1-i]()
	}
}

// The panic of a bubble shows the client's goroutines, and not whose they are.
// Some of the clients have no connection when the test ends.
func TestClientThatIsNotClosedIsNamedWhenTheTestEnds(t *testing.T) {
	for name, lose := range map[string]func(*zktest.Server){
		"connected": func(*zktest.Server) {},
		"cut off":   func(srv *zktest.Server) { srv.RefuseConnections(true); srv.CutAll() },
		"stopped":   func(srv *zktest.Server) { _ = srv.Stop() },
		"silent":    func(srv *zktest.Server) { srv.BlackholeAll() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ending := &endingTest{T: t}
				srv := zktest.Start(ending)
				for range 3 {
					closed := newClient(t, srv)
					require.NoError(t, closed.WaitConnected(t.Context()))
					require.NoError(t, closed.Close())
				}
				forgotten := newClient(t, srv, framework.WithServiceName("orders"))
				require.NoError(t, forgotten.WaitConnected(t.Context()))
				lose(srv)
				time.Sleep(time.Second)

				var profile strings.Builder
				require.NoError(t, pprof.Lookup("goroutine").WriteTo(&profile, 1))
				require.Contains(t, profile.String(), `"curator.client":"orders at `)

				ending.end()
				require.Len(t, ending.log, 1)
				require.Regexp(t, regexp.MustCompile(`^zktest: a client was not closed: orders at 127\.0\.0\.1:1, number \d+, `+
					`made in framework/helpers_test\.go:\d+, called in framework/made_test\.go:\d+`), ending.log[0])
			})
		})
	}
}

// A client has never had a connection.
func TestClientThatNeverConnectsIsNamedWhenTheTestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ending := &endingTest{T: t}
		srv := zktest.Start(ending)
		srv.RefuseConnections(true)
		newClient(t, srv)
		time.Sleep(time.Second)
		ending.end()
		require.Len(t, ending.log, 1)
	})
}
