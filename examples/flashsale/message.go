package main

import "time"

// job is what the parent writes first to a worker's standard input, as a line of JSON. A second line, start, lets
// the worker begin. The end of the input means that the parent is gone.
type job struct {
	Worker         string
	Servers        string
	Root           string
	Orders         []order
	Unsafe         bool
	Crash          moment // where to stand still and be killed
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

// The kinds of messages, in the order in which they come.
const (
	ready    kind = "ready"    // connected; waiting for start
	standing kind = "standing" // at the moment of job.Crash, holding the lock
	answered kind = "answered" // an order, in Answer
	finished kind = "finished" // all orders
	failed   kind = "failed"   // for a reason that another process would have too, in Error
)
