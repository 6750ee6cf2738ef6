//go:build !real

package thorough

// Parallel does nothing: tests in virtual time do not wait, so running more tests than
// processors has no use.
func Parallel(int) {}
