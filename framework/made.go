package framework

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync/atomic"
)

// clientLabel is the label of a client's goroutines, and of the contexts that its
// dialer gets. Its value names the client and the place of its creation. The label
// identifies a client that was not closed: in a profile of goroutines, in traces with
// GODEBUG=tracebacklabels=1, and for package testing/zktest, which names the client
// before a bubble of testing/synctest panics. A number makes the value unique, so
// zktest can search for the client's goroutines.
const clientLabel = "curator.client"

// clientsMade counts the clients of the process.
var clientsMade atomic.Int64

// labelled returns a context with the label.
func labelled(ctx context.Context, serviceName, addresses string) context.Context {
	return pprof.WithLabels(ctx, pprof.Labels(clientLabel,
		fmt.Sprintf("%s at %s, number %d, made in %s", serviceName, addresses, clientsMade.Add(1), callers())))
}

// maxCallers is enough to see past helpers that create a client for a test.
const maxCallers = 3

// callers returns the places in the program from which this package was called,
// the innermost first.
func callers() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	var places []string
	for more := true; more && len(places) < maxCallers; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case isOurs(f):
		case f.Function == "testing.tRunner", strings.HasPrefix(f.Function, "runtime."), f.File == "":
			more = false
		default:
			folder := filepath.Base(filepath.Dir(f.File))
			places = append(places, fmt.Sprintf("%s/%s:%d", folder, filepath.Base(f.File), f.Line))
		}
	}
	return strings.Join(places, ", called in ")
}

// isOurs reports whether a frame belongs to this package or to curatortest, except
// their tests.
func isOurs(f runtime.Frame) bool {
	if strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	return strings.HasPrefix(f.Function, "github.com/gocurator/curator/framework.") ||
		strings.HasPrefix(f.Function, "github.com/gocurator/curator/testing/curatortest.")
}
