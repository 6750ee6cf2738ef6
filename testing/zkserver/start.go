package zkserver

import (
	"errors"
	"os"
)

// TB is the part of [testing.TB] that Start and StartEnsemble use. It is
// declared here so that programs that call Run do not link package testing, and
// so that other test frameworks can be used. As in package testing, Fatalf and
// Skip end the goroutine that calls them, and Cleanup registers a function that
// is called when the test is over.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
	Skip(args ...any)
}

// Start starts a standalone server and closes it when the test is over. The
// server serves when Start returns. If no ZooKeeper is installed, Start skips
// the test, or fails it if CURATOR_REQUIRE_ZOOKEEPER is set. Any other error
// fails the test.
func Start(tb TB, opts ...Option) *Server {
	tb.Helper()
	s, err := Run(opts...)
	check(tb, err)
	tb.Cleanup(func() { check(tb, s.Close()) })
	return s
}

// StartEnsemble is [Start] for an ensemble of n servers.
func StartEnsemble(tb TB, n int, opts ...Option) *Ensemble {
	tb.Helper()
	e, err := RunEnsemble(n, opts...)
	check(tb, err)
	tb.Cleanup(func() { check(tb, e.Close()) })
	return e
}

// check returns only if err is nil. Otherwise it skips or fails the test.
func check(tb TB, err error) {
	tb.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrNotInstalled) && os.Getenv(envRequire) == "":
		tb.Skip(err)
	default:
		tb.Fatalf("%v", err)
	}
}
