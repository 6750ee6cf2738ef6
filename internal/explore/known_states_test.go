package explore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Two courses are not the same because nobody has seen their difference yet. A
// search that takes them for the same looks only behind the first of them.
func TestWhatNobodyHasSeenYetIsAnotherState(t *testing.T) {
	_, f := find(t, func(w *World) {
		lost := false
		w.Actor("A", func(a *Actor) {
			a.Pause("one")
			time.Sleep(time.Minute)
			lost = a.Disturbed()
		})
		w.Actor("B", func(b *Actor) {
			time.Sleep(90 * time.Second)
			begun := time.Now()
			b.Pause("two")
			if lost && time.Since(begun) > 0 {
				w.Fail("A has lost its session, and B is late")
			}
		})
	}, Limits{Deviations: 2, Workers: 1})
	require.NotNil(t, f)
	require.Len(t, f.choices, 2)
}
