package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"syscall"
)

// entire is a file that takes each text as a whole, and has no end before its
// end. A terminal or a pipe may be shared with a program that makes it
// non-blocking, for all who have it. A write that finds no room there fails,
// perhaps in the middle of the text, and so does a read that finds nothing. These
// wait, as they would have otherwise. The file is not embedded: its other methods
// write and read, too.
type entire struct{ file *os.File }

// inFull returns a stream whose texts are written as a whole.
func inFull(stream io.Writer) io.Writer {
	if f, ok := stream.(*os.File); ok && f != nil {
		return entire{f}
	}
	return stream
}

// Write implements io.Writer.
func (e entire) Write(p []byte) (n int, err error) {
	for {
		written, err := e.file.Write(p[n:])
		n += written
		if !errors.Is(err, syscall.EAGAIN) {
			return n, err
		}
		if err := awaitRoom(e.file); err != nil {
			return n, err
		}
	}
}

// Read implements io.Reader.
func (e entire) Read(p []byte) (n int, err error) {
	for {
		n, err := e.file.Read(p)
		if !errors.Is(err, syscall.EAGAIN) {
			return n, err
		}
		if err := awaitInput(e.file); err != nil {
			return n, err
		}
	}
}

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
