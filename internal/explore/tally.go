package explore

import (
	"fmt"
	"time"
)

// tally counts the work of a search.
type tally struct {
	schedules int // runs
	complete  int // all courses with that many deviations were played; -1 for none
	known     int // courses that reached a state that was searched before
	diverged  int // runs that reached another state by the same choices
	took      time.Duration
}

// String is one line of text.
func (t tally) String() string {
	complete := "not complete"
	if t.complete >= 0 {
		complete = fmt.Sprintf("complete with %d deviations", t.complete)
	}
	return fmt.Sprintf("%d schedules in %v, %.0f a second; %s; %d reached a known state, %d diverged",
		t.schedules, t.took.Round(time.Millisecond), float64(t.schedules)/t.took.Seconds(), complete, t.known, t.diverged)
}
