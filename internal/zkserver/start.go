package zkserver

// TB is the part of [testing.TB] that this package uses. It is declared here so
// that programs that call Find do not link package testing. As in package testing,
// Fatalf ends the goroutine that calls it, and Cleanup registers a function that is
// called when the test is over.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Start starts a standalone server and closes it when the test is over. The
// server serves when Start returns. If no ZooKeeper is installed, the test fails.
func Start(tb TB, opts ...Option) *Server {
	tb.Helper()
	return start(tb, opts, 0).servers[0]
}

// StartEnsemble is [Start] for an ensemble of n servers.
func StartEnsemble(tb TB, n int, opts ...Option) *Ensemble {
	tb.Helper()
	return start(tb, opts, n)
}

func start(tb TB, opts []Option, n int) *Ensemble {
	tb.Helper()
	e, err := run(opts, n, newMembers)
	check(tb, err)
	tb.Cleanup(func() { check(tb, e.Close()) })
	return e
}

// check returns only if err is nil. Otherwise it fails the test.
func check(tb TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatalf("%v", err)
	}
}
