package explore

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// workerOf is the variable that makes a process a worker: the name of the test.
const workerOf = "EXPLORE_WORKER_OF"

// defaultLongestRun is how long a run may take, in real time. A longer run counts as an
// endless loop.
const defaultLongestRun = 30 * time.Second

// longestDeath is how long a worker may take to end itself.
const longestDeath = time.Minute

// answerMark begins a line with a result, as opposed to output of the test.
const answerMark = "\x00explore: "

// maxWords bounds the kept output of a worker, in lines.
const maxWords = 300

// worker is a process that plays runs. It reads orders from its standard input,
// and writes results to its standard output.
type worker struct {
	cmd    *exec.Cmd
	orders io.WriteCloser
	out    *bufio.Reader

	said []string
}

func startWorker(test string) (*worker, error) {
	var parts []string
	for part := range strings.SplitSeq(test, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
	}
	cmd := exec.Command(os.Args[0], "-test.run="+strings.Join(parts, "/"), "-test.timeout=0", "-test.count=1")
	// With one processor, goroutines run in nearly the same order each time. GOGC is
	// high because there is much garbage and little live data. The last variable makes
	// rand.Seed work: see run.
	cmd.Env = append(os.Environ(), workerOf+"="+test, "GOMAXPROCS=1", "GOGC=400",
		"GODEBUG="+os.Getenv("GODEBUG")+",randseednop=0")
	orders, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &worker{cmd: cmd, orders: orders, out: bufio.NewReader(out)}, nil
}

// play asks the worker to play. The error says how its process has ended.
func (w *worker) play(o order) (r result, err error) {
	// The worker ends a run that is too long by itself, even if this process has died.
	// The timer is for a worker that cannot.
	tooLong := time.AfterFunc(o.Longest+longestDeath, func() { _ = w.cmd.Process.Kill() })
	defer tooLong.Stop()
	if err := json.NewEncoder(w.orders).Encode(o); err != nil {
		return r, fmt.Errorf("the worker process does not read: %w", err)
	}
	for {
		line, err := w.out.ReadString('\n')
		if before, text, is := strings.Cut(line, answerMark); is {
			w.hear(before)
			return r, json.Unmarshal([]byte(text), &r)
		}
		w.hear(line)
		if err != nil {
			return r, errors.New("the worker process has ended")
		}
	}
}

// dieOfARunWithoutAnEnd ends the worker, and prints the stacks of its goroutines.
func dieOfARunWithoutAnEnd() {
	fmt.Println("the run does not end\n" + bubbledGoroutines())
	os.Exit(2)
}

// hear keeps the beginning and the end of the process's output.
func (w *worker) hear(line string) {
	if line = strings.TrimSuffix(line, "\n"); line == "" {
		return
	}
	w.said = append(w.said, line)
	if len(w.said) > maxWords {
		w.said = slices.Delete(w.said, maxWords/2, maxWords/2+1)
	}
}

// stop ends the process.
func (w *worker) stop() {
	if w == nil {
		return
	}
	_ = w.orders.Close()
	_, _ = io.Copy(io.Discard, w.out)
	_ = w.cmd.Wait()
}

// orders yields the orders for a worker.
func orders(in io.Reader) iter.Seq[order] {
	return func(yield func(order) bool) {
		for from := json.NewDecoder(in); ; {
			var o order
			if err := from.Decode(&o); err != nil || !yield(o) {
				return
			}
		}
	}
}

// answer writes the result of an order.
func answer(out io.Writer, r result) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s%s\n", answerMark, text)
	return err
}
