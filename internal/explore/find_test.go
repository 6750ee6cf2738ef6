package explore

import "testing"

// find searches, and returns what it has found. A worker does not come
// back from it.
func find(t *testing.T, s Scenario, limits Limits) (tally, *failure) {
	if workFor(t, s) {
		t.Skip("this process is a worker")
	}
	played, f := explore(t, limits)
	t.Log(played)
	if f != nil {
		t.Log(f)
	}
	return played, f
}
