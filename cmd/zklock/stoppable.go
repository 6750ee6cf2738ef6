package main

import (
	"bytes"
	"context"
	"io"
)

// stoppable is the output of a command that a signal stops, also while nobody
// reads what it prints.
type stoppable struct {
	ctx context.Context
	to  io.Writer
}

// Write implements io.Writer. If the context ends first, Write returns the
// context's error.
func (s stoppable) Write(p []byte) (n int, err error) {
	own := bytes.Clone(p) // the caller may use p again when the context has ended
	written := make(chan struct{})
	var size int
	var failure error
	go func() { // it ends with the program, if nobody reads
		defer close(written)
		size, failure = s.to.Write(own)
	}()
	select {
	case <-written:
		return size, failure
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}
