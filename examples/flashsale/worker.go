package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/gocurator/curator/framework"
)

// workerCommand turns the program into a worker. Only the parent uses it.
const workerCommand = "worker"

func isWorker(args []string) bool { return len(args) == 2 && args[1] == workerCommand }

func workerMain() int {
	// Ctrl-C reaches the whole process group; the parent decides.
	signal.Ignore(os.Interrupt)
	w := worker{in: json.NewDecoder(os.Stdin), out: json.NewEncoder(os.Stdout)}
	if err := w.run(context.Background()); err != nil {
		w.tell(message{Kind: failed, Error: err.Error()})
		return unexpected
	}
	return asExpected
}

// worker is a process that answers orders with its own client.
type worker struct {
	in  *json.Decoder
	out *json.Encoder
	job job
}

// tell ignores errors: they mean that the parent has ended, which the end of
// the input shows, too.
func (w *worker) tell(m message) { _ = w.out.Encode(m) }

func (w *worker) run(ctx context.Context) error {
	if err := w.in.Decode(&w.job); err != nil {
		return fmt.Errorf("no job: %w", err)
	}
	client, err := framework.New(w.job.Servers, framework.WithSessionTimeout(w.job.SessionTimeout))
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := client.Session(ctx); err != nil {
		return err
	}
	w.tell(message{Kind: ready})
	if err := w.in.Decode(&start{}); err != nil {
		return errOrphan
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go w.watchParent(cancel)
	return w.answerAll(ctx, client)
}

var errOrphan = errors.New("the parent process is gone")

// watchParent reads to the end of the input. It ends with the process, since a
// read of standard input cannot be cancelled.
func (w *worker) watchParent(cancel context.CancelCauseFunc) {
	_, _ = io.Copy(io.Discard, os.Stdin)
	cancel(errOrphan)
}

func (w *worker) answerAll(ctx context.Context, client *framework.Client) error {
	s := seller{
		ledger:  ledger{client, w.job.Root},
		worker:  w.job.Worker,
		think:   w.job.Think,
		reached: w.standStill,
	}
	sell := s.sell
	if w.job.Unsafe {
		sell = s.sellUnsafe
	}
	for _, o := range w.job.Orders {
		a, err := sell(ctx, o)
		if err != nil {
			return fmt.Errorf("order %s: %w", o.ID, err)
		}
		w.tell(message{Kind: answered, Answer: a})
	}
	w.tell(message{Kind: finished})
	return nil
}

// standStill stops at the moment of the crash and waits to be killed. The
// client keeps running, so the session stays alive.
func (w *worker) standStill(ctx context.Context, m moment) {
	if m == w.job.Crash {
		w.tell(message{Kind: standing})
		<-ctx.Done()
	}
}
