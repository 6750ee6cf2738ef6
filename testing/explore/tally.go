package explore

import (
	"fmt"
	"time"
)

// Tally is what a [Search] has done.
type Tally struct {
	Schedules int // runs, walks at random included
	Walks     int // walks at random
	Complete  int // with that many deviations every course was played; -1 for none
	// Known is how many courses came to a state that had been searched.
	Known int
	// Diverged is how many runs came to another state by the same choices: see
	// the package's documentation.
	Diverged int
	Took     time.Duration
}

// String is one line of text.
func (t Tally) String() string {
	complete := "not complete"
	if t.Complete >= 0 {
		complete = fmt.Sprintf("complete with %d deviations", t.Complete)
	}
	return fmt.Sprintf("%d schedules, %d of them walks, in %v, %.0f a second; %s; %d came to a known state, %d diverged",
		t.Schedules, t.Walks, t.Took.Round(time.Millisecond), float64(t.Schedules)/t.Took.Seconds(), complete, t.Known, t.Diverged)
}
