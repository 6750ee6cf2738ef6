package thorough

import "testing"

// All reports whether the program has the build tag real. Only cmd/zklock and
// cmd/zkfake call it, and the two functions below, until their tests are split.
func All() bool { return realTag }

// OnRealServers skips a test without the build tag real.
func OnRealServers(t testing.TB) { needTag(t) }

// LongWait skips a test without the build tag real.
func LongWait(t testing.TB) { needTag(t) }

func needTag(t testing.TB) {
	t.Helper()
	if !realTag {
		t.Skip("needs the build tag real")
	}
}
