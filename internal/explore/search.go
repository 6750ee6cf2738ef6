package explore

import (
	"cmp"
	"flag"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Limits bound a search, which ends at the first limit that it reaches.
type Limits struct {
	// Deviations is the largest number of deviations from the natural course. With 0,
	// the search plays only the natural course.
	Deviations int
	// Schedules is the largest number of runs, or 0 for no limit. The runs are the same
	// each time, unless some diverge: see "What is not" above.
	Schedules int
	// Time limits the duration of the search; 0 means no limit.
	Time time.Duration
	// Workers is the number of processes that play at the same time; 0 means one for
	// each processor.
	Workers int
}

// limitFlag replaces the limits of each search.
var limitFlag = flag.String("explore", "",
	"how long each search goes on at most, such as 10m, or how many schedules it plays")

// asked returns the limits, changed by the value of the flag: a number of schedules, or
// a duration.
func (l Limits) asked(text string) (Limits, error) {
	if n, err := strconv.Atoi(text); err == nil {
		l.Schedules, l.Time = n, 0
		return l, nil
	}
	d, err := time.ParseDuration(text)
	l.Schedules, l.Time = 0, d
	return l, err
}

// Search plays the scenario in every order within the limits. It fails the test
// with the story of the first failure that it finds, and with the call of
// [Replay] that plays it again. In any case it logs a tally.
//
// Other processes of the test's own program play the runs, and run only this test. So
// the test must do nothing but call Search. A run that panics, or does not end, is a
// failure, too.
//
// If the flag -explore of the test program is a duration, such as 10m, that is how
// long each search goes on at most, without a limit of schedules. If it is a number,
// that is how many schedules each search plays at most.
func Search(t *testing.T, s Scenario, limits Limits) {
	t.Helper()
	if workFor(t, s) {
		return
	}
	if text := *limitFlag; text != "" {
		var err error
		if limits, err = limits.asked(text); err != nil {
			t.Fatalf("explore: -explore=%s: %v", text, err)
		}
	}
	played, failed := explore(t, limits)
	t.Logf("explore: %v", played)
	if failed != nil {
		t.Fatalf("explore: %v", failed)
	}
}

// Replay plays the scenario once, with the choices that a [Search] has printed. It
// fails the test with the story if the run fails. As with Search, the test must do
// nothing else.
func Replay(t *testing.T, s Scenario, choices ...int) {
	t.Helper()
	if workFor(t, s) {
		return
	}
	c, err := choicesOf(choices)
	if err != nil {
		t.Fatal(err)
	}
	one := newCrew(t, 1)
	defer one.close()
	r := one.playOne(c)
	if r.Failure != "" {
		t.Fatalf("explore: %v", &failure{c, r})
	}
	if lacking := r.lacks(c); lacking != nil {
		t.Fatalf("explore: the choice %v does not exist any more: the run has changed", lacking)
	}
}

// explore searches with a crew of workers.
func explore(t *testing.T, limits Limits) (tally, *failure) {
	workers := cmp.Or(limits.Workers, runtime.NumCPU())
	se := &search{limits: limits, begun: time.Now(), seen: map[hash]int{}, crew: newCrew(t, workers)}
	se.tally.complete = -1
	defer se.crew.close()
	se.run()
	se.tally.took = time.Since(se.begun)
	return se.tally, se.failure
}

// search is a running search.
type search struct {
	limits Limits
	begun  time.Time
	crew   *crew

	mu        sync.Mutex
	handedOut int // runs that were begun
	tally     tally
	seen      map[hash]int // states, and how many deviations were left there
	failure   *failure     // the first one
}

// task is a run to be played.
type task struct {
	choices choices
	state   hash // the state before its last deviation
}

// failure is a run that has failed.
type failure struct {
	choices choices
	result  result
}

func (f *failure) String() string {
	return f.result.Failure + "\n\n" + strings.Join(f.result.Story, "\n") +
		"\n\nexplore.Replay(t, scenario, " + f.choices.String() + ")"
}

// run plays until a limit is reached, or a run has failed.
func (se *search) run() {
	tasks := []task{{}}
	for depth := 0; depth <= se.limits.Deviations && len(tasks) > 0; depth++ {
		next, all := se.playAll(tasks, se.limits.Deviations-depth)
		if !all {
			return
		}
		se.tally.complete = depth
		// In random order, a search that is stopped early has covered a bit of
		// everything.
		rand.New(rand.NewPCG(1, 1)).Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
		tasks = next
	}
}

// playAll plays tasks with the same number of deviations, and returns those with
// one more, if any are left. It reports whether it has played all.
func (se *search) playAll(tasks []task, left int) (next []task, all bool) {
	results := make([]result, len(tasks))
	all = se.crew.each(len(tasks), se.handOut, func(i int) choices { return tasks[i].choices }, func(i int, r result) {
		se.note(tasks[i].choices, r)
		results[i] = r
	})
	if !all || left == 0 || !se.goesOn() {
		return nil, all && se.goesOn()
	}
	for i, r := range results { // in order, whichever worker was faster
		next = append(next, se.follow(tasks[i], r, left)...)
	}
	return next, true
}

// handOut counts a run that is about to be played. It returns false if the limit is
// reached.
func (se *search) handOut() bool {
	if !se.goesOn() {
		return false
	}
	se.mu.Lock()
	defer se.mu.Unlock()
	if se.limits.Schedules > 0 && se.handedOut == se.limits.Schedules {
		return false
	}
	se.handedOut++
	return true
}

// note counts a run.
func (se *search) note(c choices, r result) {
	se.mu.Lock()
	defer se.mu.Unlock()
	se.tally.schedules++
	if r.Failure != "" && se.failure == nil {
		se.failure = &failure{c, r}
	}
}

// follow returns the tasks that deviate once more than the task does, after its last
// deviation. left is how many more deviations are allowed.
func (se *search) follow(of task, r result, left int) (next []task) {
	se.mu.Lock()
	defer se.mu.Unlock()
	from := 0
	if n := len(of.choices); n > 0 {
		last := of.choices[n-1].Step
		if last >= len(r.Steps) || r.Steps[last].State != of.state {
			se.tally.diverged++
		}
		from = last + 1
	}
	for i := from; i < len(r.Steps); i++ {
		step := r.Steps[i]
		if known, ok := se.seen[step.State]; ok && known >= left {
			se.tally.known++
			break // the continuation was searched from that state
		}
		se.seen[step.State] = left
		for m := 1; m < step.Moves; m++ {
			c := append(of.choices[:len(of.choices):len(of.choices)], deviation{i, m})
			next = append(next, task{choices: c, state: step.State})
		}
	}
	return next
}

// goesOn reports whether no limit is reached, and no run has failed.
func (se *search) goesOn() bool {
	se.mu.Lock()
	defer se.mu.Unlock()
	return se.failure == nil && (se.limits.Time == 0 || time.Since(se.begun) < se.limits.Time)
}
