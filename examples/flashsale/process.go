package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
)

// process is a worker process as its parent sees it. The shop's loop owns it.
type process struct {
	job   job
	nth   int // process of this worker: 2 is the one that replaces the first
	cmd   *exec.Cmd
	stdin *json.Encoder // never closed while the process runs: its end tells the worker that the parent is gone
	out   io.Reader

	ready    bool
	finished bool
	open     []order // those without an answer
}

// event is something that a process did: it sent a message, or it ended.
type event struct {
	from  *process
	ended bool
	message
}

// launch starts a worker process, which is killed when ctx ends. The caller must listen to it.
func launch(ctx context.Context, j job, nth int) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, workerCommand)
	cmd.Stderr = os.Stderr // for panics; errors come as messages
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{job: j, nth: nth, cmd: cmd, stdin: json.NewEncoder(stdin), out: stdout, open: j.Orders}, nil
}

// listen reports everything that the process does, and its end last. It returns when the process is gone.
func (p *process) listen(report func(event)) {
	d := json.NewDecoder(p.out)
	for {
		var m message
		if d.Decode(&m) != nil {
			break
		}
		report(event{from: p, message: m})
	}
	_, _ = io.Copy(io.Discard, p.out) // only if the process wrote something else; it must not block on that
	_ = p.cmd.Wait()                  // what it has to say of its end was in its messages
	report(event{from: p, ended: true})
}

// send ignores errors: they mean that the process is gone, which listen reports.
func (p *process) send(v any) { _ = p.stdin.Encode(v) }

// kill is SIGKILL: the process gets no chance to clean up, nor to close its session.
func (p *process) kill() { _ = p.cmd.Process.Kill() }

// answered removes an order from those without an answer.
func (p *process) answered(id string) (order, bool) {
	for i, o := range p.open {
		if o.ID == id {
			p.open = append(p.open[:i:i], p.open[i+1:]...)
			return o, true
		}
	}
	return order{}, false
}
