//go:build unix && !linux

package child

// whenDead is for Linux: elsewhere the guard alone tells of an end.
func whenDead(int) <-chan struct{} { return nil }

// startOf is for Linux.
func startOf(int) (uint64, error) { return 0, nil }

// isStopped is for Linux: elsewhere a guard that tells nothing counts as one
// that somebody has stopped.
func isStopped(int) bool { return true }
