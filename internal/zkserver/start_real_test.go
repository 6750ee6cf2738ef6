//go:build real

package zkserver

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeTB records how a test would have ended.
type fakeTB struct {
	failed   string
	cleanups []func()
}

func (f *fakeTB) Helper()           {}
func (f *fakeTB) Cleanup(do func()) { f.cleanups = append(f.cleanups, do) }

func (f *fakeTB) Fatalf(format string, args ...any) {
	f.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// runFake runs test with a fakeTB, in another goroutine, since Fatalf ends the
// goroutine.
func runFake(test func(TB)) *fakeTB {
	tb := new(fakeTB)
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(tb)
	}()
	<-done
	return tb
}

var starts = map[string]func(TB){
	"Start":         func(tb TB) { Start(tb) },
	"StartEnsemble": func(tb TB) { StartEnsemble(tb, 3) },
	// No other test uses these options, so that no server exists yet.
	"Shared":         func(tb TB) { Shared(tb, WithProperty("snapCount", "7")) },
	"Borrow":         func(tb TB) { Borrow(tb, WithProperty("snapCount", "7")) },
	"BorrowEnsemble": func(tb TB) { BorrowEnsemble(tb, 3, WithProperty("snapCount", "7")) },
}

// notInstalled makes Find see a machine without Java. The jars may exist or
// not.
func notInstalled(t *testing.T) {
	t.Helper()
	t.Setenv(envHome, "")
	t.Setenv(envMaven, "")
	t.Setenv(envJava, "")
	t.Setenv("PATH", t.TempDir())
}

func TestFailsWhenNotInstalled(t *testing.T) {
	notInstalled(t)
	for name, start := range starts {
		tb := runFake(start)
		require.Contains(t, tb.failed, ErrNotInstalled.Error(), name)
	}
}
