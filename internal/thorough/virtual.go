//go:build !real

package thorough

// Parallel does nothing: tests in virtual time do not wait, so that there is no use
// in more of them than processors.
func Parallel(int) {}
