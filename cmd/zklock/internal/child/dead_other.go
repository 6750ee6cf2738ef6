//go:build unix && !linux

package child

// whenDead is for Linux: elsewhere the inner guard alone tells of an end.
func whenDead(int) <-chan struct{} { return nil }

// isStopped is for Linux: elsewhere a guard that tells nothing counts as one
// that somebody has stopped.
func isStopped(int) bool { return true }
