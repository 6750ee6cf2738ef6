package zktest

import (
	"bytes"
	"runtime"
	"strings"
	"time"
)

// leakPatience is how long goroutines may take to end after a test.
const leakPatience = 5 * time.Second

// VerifyNoLeaks fails the test if goroutines that were started after the call are
// still there when the test ends. Call it first, so that its check comes after all
// other cleaning up. It cannot be used in parallel tests, whose goroutines it would
// blame, and is not needed in a bubble of testing/synctest, which does not end before
// its goroutines have.
func VerifyNoLeaks(tb TB) { verifyNoLeaks(tb, leakPatience) }

func verifyNoLeaks(tb TB, patience time.Duration) {
	before := make(map[string]bool)
	for _, g := range goroutines() {
		before[goroutineID(g)] = true
	}
	tb.Cleanup(func() {
		var leaked []string
		for pause := time.Millisecond; pause < patience; pause *= 2 {
			leaked = nil
			for _, g := range goroutines()[1:] { // the first is this one
				if !before[goroutineID(g)] && !strings.Contains(g, "testing.tRunner(") {
					leaked = append(leaked, g)
				}
			}
			if len(leaked) == 0 {
				return
			}
			<-time.After(pause)
		}
		tb.Fatalf("zktest: %d goroutines leaked:\n\n%s", len(leaked), strings.Join(leaked, "\n\n"))
	})
}

// goroutines returns the stack of every goroutine, the caller's first.
func goroutines() []string {
	buf := make([]byte, 64<<10)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			return strings.Split(string(bytes.TrimSpace(buf[:n])), "\n\n")
		}
		buf = make([]byte, 2*len(buf))
	}
}

// goroutineID returns the beginning of a stack: "goroutine 7".
func goroutineID(stack string) string {
	id, _, _ := strings.Cut(stack, " [")
	return id
}
