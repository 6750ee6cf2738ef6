package explore

import (
	"slices"
	"time"
)

// These bound how often a failure is played again to make it shorter, and for how
// long: a run that does not end takes half a minute each time.
const (
	maxShrinkRuns = 1_000
	maxShrinkTime = 2 * time.Minute
)

// maxShift is by how many steps what follows a deviation may move without it.
const maxShift = 8

// shrink takes away what a failure does not need, until no deviation can go by
// itself, or until a time is over.
func (se *search) shrink(f *failure, atMost time.Duration) *failure {
	begun, runs := time.Now(), 0
	for shorter := f; shorter != nil && len(f.choices) > 1; {
		f = shorter
		shorter = nil
		for _, fewer := range without(f.choices) {
			if runs++; runs > maxShrinkRuns || time.Since(begun) > atMost {
				return f
			}
			if r := se.crew.playOne(task{choices: fewer}); r.Failure != "" {
				shorter = &failure{fewer, r}
				break
			}
		}
	}
	return f
}

// without returns the choices without one of their deviations, those at the end
// first. A course that lacks a deviation has some steps more or less than before.
// So those behind it are tried nearby, too.
func without(c choices) (all []choices) {
	for i := range slices.Backward(c) {
		all = append(all, moved(c, i, 0))
		if i == len(c)-1 {
			continue // nothing is behind it
		}
		for shift := 1; shift <= maxShift; shift++ {
			all = append(all, moved(c, i, shift))
			if c[i+1].Step-shift >= c[i].Step {
				all = append(all, moved(c, i, -shift))
			}
		}
	}
	return all
}

// moved returns the choices without deviation i, and with those behind it some
// steps later.
func moved(c choices, i, steps int) choices {
	fewer := slices.Clone(c[:i])
	for _, d := range c[i+1:] {
		fewer = append(fewer, deviation{d.Step + steps, d.Move})
	}
	return fewer
}
