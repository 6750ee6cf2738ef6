package main

import "time"

// job is the first line of JSON that the parent writes to a worker's standard
// input. The second line, start, tells the worker to begin. The end of the
// input means that the parent has ended.
type job struct {
	Worker         string
	Servers        string
	Root           string
	Orders         []order
	Unsafe         bool
	Crash          moment // the moment to stop at and be killed
	SessionTimeout time.Duration
	Think          time.Duration
}

type start struct{}

// message is a line of JSON that a worker writes to its standard output.
type message struct {
	Kind   kind
	Answer answer `json:",omitzero"`
	Error  string `json:",omitempty"`
}

type kind string

// The kinds of messages, in their order.
const (
	ready    kind = "ready"    // connected; waits for start
	standing kind = "standing" // stopped at job.Crash, holding the lock
	answered kind = "answered" // an order, in Answer
	finished kind = "finished" // all orders
	// failed has the reason in Error. Any other process would fail, too.
	failed kind = "failed"
)
