package explore

import (
	"fmt"
	"time"
)

// tally is what a search has done.
type tally struct {
	schedules int // runs
	complete  int // every course with that many deviations was played; -1 for none
	known     int // courses that came to a state that had been searched
	diverged  int // runs that came to another state by the same choices
	took      time.Duration
}

// String is one line of text.
func (t tally) String() string {
	complete := "not complete"
	if t.complete >= 0 {
		complete = fmt.Sprintf("complete with %d deviations", t.complete)
	}
	return fmt.Sprintf("%d schedules in %v, %.0f a second; %s; %d came to a known state, %d diverged",
		t.schedules, t.took.Round(time.Millisecond), float64(t.schedules)/t.took.Seconds(), complete, t.known, t.diverged)
}
