package explore

import (
	"runtime"
	"strings"
)

// bubbledGoroutines returns the stacks of all goroutines in bubbles of synctest.
func bubbledGoroutines() string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var in []string
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		first, _, _ := strings.Cut(stack, "\n")
		if strings.Contains(first, "synctest bubble") {
			in = append(in, stack)
		}
	}
	return strings.Join(in, "\n\n")
}
