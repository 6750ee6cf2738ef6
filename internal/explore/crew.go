package explore

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// order asks a worker to play a run.
type order struct {
	Choices choices
	Tell    bool // print each line of the story at once
	Longest time.Duration
}

// crew has the workers of a search.
type crew struct {
	test       string
	longestRun time.Duration
	idle       chan *worker // nil for a worker that is not started yet
}

func newCrew(t *testing.T, workers int) *crew {
	c := &crew{test: t.Name(), longestRun: defaultLongestRun, idle: make(chan *worker, workers)}
	for range workers {
		c.idle <- nil
	}
	return c
}

// close ends all workers, which must be idle.
func (c *crew) close() {
	for range cap(c.idle) {
		(<-c.idle).stop()
	}
}

// each plays n runs in order, as long as goOn returns true. It reports whether it has
// played all runs.
func (c *crew) each(n int, goOn func() bool, run func(i int) choices, then func(i int, r result)) bool {
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range n {
		w := <-c.idle
		if !goOn() {
			c.idle <- w
			return false
		}
		wg.Go(func() {
			r, w := c.play(w, run(i))
			then(i, r)
			c.idle <- w
		})
	}
	return true
}

// playOne plays one run.
func (c *crew) playOne(run choices) result {
	r, w := c.play(<-c.idle, run)
	c.idle <- w
	return r
}

// play lets a worker play a run, and returns the worker for the next run, or nil if the
// run has failed and may have left something behind.
func (c *crew) play(w *worker, run choices) (result, *worker) {
	o := order{Choices: run}
	r, w, err := c.order(w, o)
	if err != nil {
		w.stop()
		return c.tell(o, err), nil
	}
	if r.Failure != "" {
		w.stop()
		return r, nil
	}
	return r, w
}

func (c *crew) order(w *worker, o order) (result, *worker, error) {
	if w == nil {
		var err error
		if w, err = startWorker(c.test); err != nil {
			return result{}, nil, fmt.Errorf("a worker cannot be started: %w", err)
		}
	}
	o.Longest = c.longestRun
	r, err := w.play(o)
	return r, w, err
}

// tell repeats a run that has ended its process and lost its story: this time, the
// worker prints each line at once.
func (c *crew) tell(o order, err error) result {
	o.Tell = true
	_, w, _ := c.order(nil, o)
	defer w.stop()
	r := result{Failure: err.Error()}
	if w != nil {
		r.Story = w.said
	}
	return r
}

// If the process is a worker of the test, workFor plays runs until the orders end.
func workFor(t *testing.T, s Scenario) (isWorker bool) {
	if os.Getenv(workerOf) != t.Name() {
		return false
	}
	for o := range orders(os.Stdin) {
		tooLong := time.AfterFunc(o.Longest, dieOfARunWithoutAnEnd)
		var tell func(string)
		if o.Tell {
			tell = func(text string) { fmt.Println(text) }
		}
		r := run(t, s, o.Choices, tell)
		tooLong.Stop()
		if answer(os.Stdout, r) != nil || r.Failure != "" { // a failed run may have left something behind
			break
		}
	}
	return true
}
