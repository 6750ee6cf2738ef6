package explore

// maxShrinkRuns bounds how often a failure is played again to make it shorter.
const maxShrinkRuns = 200

// shrink takes away what a failure does not need: whole deviations, those at the
// end first, as long as the run still fails.
func (se *search) shrink(f *failure) *failure {
	runs := 0
	for i := len(f.choices) - 1; i >= 0 && len(f.choices) > 1; i-- {
		if runs++; runs > maxShrinkRuns {
			break
		}
		fewer := append(f.choices[:i:i], f.choices[i+1:]...)
		if r := se.crew.playOne(task{choices: fewer}); r.Failure != "" {
			f = &failure{fewer, r}
			i = min(i, len(f.choices))
		}
	}
	return f
}
