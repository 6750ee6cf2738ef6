package demo

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/gocurator/curator/framework"
)

// Worker is what a worker process does until ctx ends. The client is connected,
// and closed afterwards.
type Worker func(ctx context.Context, name string, client *framework.Client) error

// workerCommand turns the program into a worker.
const workerCommand = "worker"

// RunIfWorker runs the worker and ends the process, if Stage.Start has started
// it. The function main calls it first. The options configure the worker's
// client.
func RunIfWorker(worker Worker, opts ...framework.Option) {
	if len(os.Args) != 4 || os.Args[1] != workerCommand {
		return
	}
	name, servers := os.Args[2], os.Args[3]
	if err := runWorker(worker, name, servers, opts); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(Failed)
	}
	os.Exit(AsExpected)
}

// BeforeTests is RunIfWorker for the TestMain of tests that run the program. It
// also lets the workers end at once: under the race detector, each of them would
// wait for a second.
func BeforeTests(worker Worker, opts ...framework.Option) {
	RunIfWorker(worker, opts...)
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
}

func runWorker(worker Worker, name, servers string, opts []framework.Option) error {
	ctx, stop := untilStopped()
	defer stop()
	client, err := connect(ctx, servers, opts...)
	if err == nil {
		defer client.Close()
		err = worker(ctx, name, client)
	}
	if ctx.Err() != nil {
		return nil // it was asked to stop
	}
	return err
}

// untilStopped returns a context that ends when the worker is asked to stop, by
// Stop or by SIGTERM, or when the process that has started it is gone.
func untilStopped() (ctx context.Context, stop context.CancelFunc) {
	// Ctrl-C reaches the whole process group; the parent decides.
	signal.Ignore(os.Interrupt)
	ctx, stop = signal.NotifyContext(context.Background(), syscall.SIGTERM)
	// A read of standard input cannot be cancelled: it ends with the process.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	return ctx, stop
}

// Process is a worker process as its parent sees it.
type Process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{} // closed when the process has ended
}

// Start starts workers on the same servers, each of which is this program again.
// The function stop stops those that are left, and must be called.
func (s Stage) Start(names ...string) (workers map[string]*Process, stop func(), err error) {
	workers = map[string]*Process{}
	stop = func() {
		for _, p := range workers {
			p.Stop()
		}
	}
	for _, name := range names {
		if workers[name], err = s.start(name); err != nil {
			delete(workers, name)
			stop()
			return nil, nil, err
		}
	}
	return workers, stop, nil
}

func (s Stage) start(name string) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &Process{cmd: exec.Command(self, workerCommand, name, s.Servers), ended: make(chan struct{})}
	p.cmd.Stderr = os.Stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // the worker has printed its error
	}()
	return p, nil
}

// Wait returns when the worker has ended, or ctx has.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Stop asks the worker to stop, and returns when it has ended. It kills one that
// takes too long.
func (p *Process) Stop() {
	_ = p.stdin.Close()
	select {
	case <-p.ended:
	case <-time.After(cleanUp):
		p.Kill()
	}
}

// Kill sends SIGKILL, and returns when the worker has ended: it cannot clean up
// or close its session.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}
