package explore

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// order is what a worker is asked to play.
type order struct {
	Choices choices
	Walk    uint64 // not 0 for a walk at random: its seed
	Before  counts // what the search has done before a walk
	Tell    bool   // print the story as it goes
	Longest time.Duration
}

// crew is the workers of a search.
type crew struct {
	test       string
	longestRun time.Duration
	idle       chan *worker // nil for one that has to be started
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

// each plays n tasks, in their order, as long as goOn reports true. It reports
// whether it has played all.
func (c *crew) each(n int, goOn func() bool, task func(i int) task, then func(i int, r result)) bool {
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range n {
		w := <-c.idle
		if !goOn() {
			c.idle <- w
			return false
		}
		wg.Go(func() {
			r, w := c.play(w, task(i))
			then(i, r)
			c.idle <- w
		})
	}
	return true
}

// playOne plays one task.
func (c *crew) playOne(t task) result {
	r, w := c.play(<-c.idle, t)
	c.idle <- w
	return r
}

// play lets a worker play a task, and returns the worker for the next one: nil
// if the run has failed, and may have left something behind.
func (c *crew) play(w *worker, t task) (result, *worker) {
	o := order{Choices: t.choices, Walk: t.walk, Before: t.before}
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

// tell plays a run again that has ended its process, and with it its story: now
// the worker tells each line of it at once.
func (c *crew) tell(o order, err error) result {
	o.Tell = true
	_, w, _ := c.order(nil, o)
	defer w.stop()
	r := result{Failure: err.Error()}
	if w != nil {
		r.Story, r.Walked = w.said, w.deviations
	}
	return r
}

// workFor plays what it is asked to, until nobody asks any more, if the process
// is a worker of the test.
func workFor(t *testing.T, s Scenario) (isWorker bool) {
	if os.Getenv(workerOf) != t.Name() {
		return false
	}
	for o := range orders(os.Stdin) {
		tooLong := time.AfterFunc(o.Longest, dieOfARunWithoutAnEnd)
		r := o.run(t, s)
		tooLong.Stop()
		if answer(os.Stdout, r) != nil || r.Failure != "" { // a run that has failed may have left something behind
			break
		}
	}
	return true
}

// run plays what the order asks for.
func (o order) run(t *testing.T, s Scenario) result {
	var tell func(string)
	if o.Tell {
		tell = func(text string) { fmt.Println(text) }
	}
	if o.Walk == 0 {
		return run(t, s, natural(o.Choices), tell)
	}
	var walked choices
	r := run(t, s, wander(o.Walk, o.Before, &walked), tell)
	r.Walked = walked
	return r
}
