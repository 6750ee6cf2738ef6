package explore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// workerOf is the variable that makes a process a worker: the name of the test.
const workerOf = "CURATOR_EXPLORE_WORKER"

// longestRun is how long a run may take, in real time. A run that takes longer
// goes round and round without a pause.
const longestRun = 30 * time.Second

// order is what a worker is asked to play.
type order struct {
	Choices choices
	Walk    uint64
}

// workFor plays what it is asked to, until nobody asks any more, if the process
// is a worker of the test. It talks over two files that it has been given,
// because tests print to the usual ones.
func workFor(t *testing.T, s Scenario) (isWorker bool) {
	if os.Getenv(workerOf) != t.Name() {
		return false
	}
	in, out := json.NewDecoder(os.NewFile(3, "orders")), json.NewEncoder(os.NewFile(4, "results"))
	for {
		var o order
		if in.Decode(&o) != nil {
			return true
		}
		r := result{}
		if o.Walk == 0 {
			r = run(t, s, natural(o.Choices))
		} else {
			var walked choices
			r = run(t, s, wander(o.Walk, &walked))
			r.Walked = walked
		}
		if out.Encode(r) != nil || r.Failure != "" { // which may have left goroutines
			return true
		}
	}
}

// crew is the workers of a search.
type crew struct {
	t    *testing.T
	idle chan *worker // nil: one that has to be started
}

func newCrew(t *testing.T, workers int) *crew {
	c := &crew{t: t, idle: make(chan *worker, workers)}
	for range workers {
		c.idle <- nil
	}
	return c
}

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

// play lets a worker play a task, and returns the worker for the next one.
func (c *crew) play(w *worker, t task) (result, *worker) {
	if w == nil {
		var err error
		if w, err = startWorker(c.t.Name()); err != nil {
			return result{Failure: err.Error()}, nil
		}
	}
	r, err := w.play(order{t.choices, t.walk})
	if err != nil {
		return result{Failure: fmt.Sprintf("the process that played it has ended: %v", err), Story: w.lastWords(), Walked: t.choices}, nil
	}
	if r.Failure != "" {
		w.stop()
		return r, nil
	}
	return r, w
}

// worker is a process that plays runs.
type worker struct {
	cmd    *exec.Cmd
	orders *os.File
	in     *json.Encoder
	result *os.File
	out    *json.Decoder
	said   *bytes.Buffer
}

func startWorker(test string) (*worker, error) {
	var parts []string
	for part := range strings.SplitSeq(test, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
	}
	theirs, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	results, theirResults, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	w := &worker{said: &bytes.Buffer{}, orders: orders, result: results}
	w.cmd = exec.Command(os.Args[0], "-test.run="+strings.Join(parts, "/"), "-test.timeout=0", "-test.count=1")
	// With one processor, goroutines run in nearly the same order each time. The
	// other one makes Seed of package rand work: see run.
	w.cmd.Env = append(os.Environ(), workerOf+"="+test, "GOMAXPROCS=1", "GOGC=400", "GODEBUG="+os.Getenv("GODEBUG")+",randseednop=0")
	w.cmd.ExtraFiles = []*os.File{theirs, theirResults}
	w.cmd.Stdout, w.cmd.Stderr = w.said, w.said
	err = w.cmd.Start()
	_, _ = theirs.Close(), theirResults.Close()
	if err != nil {
		return nil, err
	}
	w.in, w.out = json.NewEncoder(orders), json.NewDecoder(results)
	return w, nil
}

func (w *worker) play(o order) (r result, err error) {
	tooLong := time.AfterFunc(longestRun, func() { _ = w.cmd.Process.Signal(os.Interrupt) })
	defer tooLong.Stop()
	if err := w.in.Encode(o); err != nil {
		return r, err
	}
	if err = w.out.Decode(&r); err != nil {
		return r, errors.Join(err, w.cmd.Wait())
	}
	return r, nil
}

// stop ends the process.
func (w *worker) stop() {
	if w == nil {
		return
	}
	_, _ = w.orders.Close(), w.result.Close()
	_ = w.cmd.Wait()
}

// lastWords is what a process that has ended has said.
func (w *worker) lastWords() []string {
	const most = 100
	lines := strings.Split(w.said.String(), "\n")
	return lines[:min(most, len(lines))]
}
