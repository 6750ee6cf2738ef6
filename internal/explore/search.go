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

// Limits say how far a search goes. It ends with the first of them that it
// reaches.
type Limits struct {
	// Deviations is with how many deviations from the natural course every
	// course is played. With 0 there is only the natural one.
	Deviations int
	// Schedules is how many runs there are at most, 0 for no limit. They are the
	// same each time, unless some diverge: see "What is not" above.
	Schedules int
	// Time is how long the search goes on, 0 for no limit.
	Time time.Duration
	// Workers is how many processes play at once, 0 for one on each processor.
	Workers int
}

// limitFlag says how far each search goes, in place of its limits.
var limitFlag = flag.String("explore", "", "how long each search goes on at most, such as 10m, or how many schedules it plays")

// asked returns the limits with what the flag asks for: a number of schedules,
// or a duration.
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
// The runs are played by other processes of the test's own program, in which
// only the same test runs. So Search has to be all that the test does. A run
// that panics, or does not end, is a failure, too.
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

// Replay plays the scenario once, with the choices that a [Search] has printed.
// It fails the test with the story if the run fails. As with Search, it has to
// be all that the test does.
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
		t.Fatalf("explore: the choice %v is not there any more: the run is another one", lacking)
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

// search is a search at work.
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
	state   hash // its last deviation is made in it
}

// failure is a run that has failed.
type failure struct {
	choices choices
	result  result
}

func (f *failure) String() string {
	return f.result.Failure + "\n\n" + strings.Join(f.result.Story, "\n") + "\n\nexplore.Replay(t, scenario, " + f.choices.String() + ")"
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
		// A search that is stopped has seen something of everything.
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
	for i, r := range results { // in their order, whichever worker was faster
		next = append(next, se.follow(tasks[i], r, left)...)
	}
	return next, true
}

// handOut counts a run that is about to be played, and reports false if there may
// be no more.
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

// follow returns the tasks that deviate once more than the task does, after its
// last deviation. left is how many more there may be.
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
			break // what follows has been searched from there
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
