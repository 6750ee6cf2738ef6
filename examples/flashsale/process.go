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
	job job
	nth int // the count of this worker's processes; 2 replaces the first
	cmd *exec.Cmd
	// The input stays open while the process runs: its end would tell the
	// worker that the parent has ended.
	stdin *json.Encoder
	out   io.Reader

	ready    bool
	finished bool
	open     []order // orders without an answer
}

// event is a message of a process, or its end.
type event struct {
	from  *process
	ended bool
	message
}

// launch starts a worker process, which is killed when ctx ends. The caller
// must call listen.
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
	return &process{
		job:   j,
		nth:   nth,
		cmd:   cmd,
		stdin: json.NewEncoder(stdin),
		out:   stdout,
		open:  j.Orders,
	}, nil
}

// listen reports every message of the process and finally its end. It returns
// when the process has ended.
func (p *process) listen(report func(event)) {
	d := json.NewDecoder(p.out)
	for {
		var m message
		if d.Decode(&m) != nil {
			break
		}
		report(event{from: p, message: m})
	}
	// The process must not block on other output.
	_, _ = io.Copy(io.Discard, p.out)
	// The messages have already said how it ended.
	_ = p.cmd.Wait()
	report(event{from: p, ended: true})
}

// send ignores errors: they mean that the process has ended, which listen
// reports.
func (p *process) send(v any) { _ = p.stdin.Encode(v) }

// kill sends SIGKILL: the process cannot clean up or close its session.
func (p *process) kill() { _ = p.cmd.Process.Kill() }

// answered removes an order from the open ones.
func (p *process) answered(id string) (order, bool) {
	for i, o := range p.open {
		if o.ID == id {
			p.open = append(p.open[:i:i], p.open[i+1:]...)
			return o, true
		}
	}
	return order{}, false
}
