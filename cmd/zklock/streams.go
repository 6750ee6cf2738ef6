package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"syscall"
)

// entire is a file whose reads and writes block until they are complete. A terminal or
// a pipe may be shared with a program that makes it non-blocking for all users. Then a
// write without room fails, perhaps in the middle of the text, and so does a read
// without data. The methods of entire wait instead. entire does not embed the file,
// because other methods of os.File also read and write, and would not wait.
type entire struct{ file *os.File }

// inFull returns a stream whose writes are always complete.
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

// stoppable is the output of a command that a signal can stop, even while a write
// blocks.
type stoppable struct {
	ctx context.Context
	to  io.Writer
}

// Write implements io.Writer. If the context ends first, Write returns the
// context's error.
func (s stoppable) Write(p []byte) (n int, err error) {
	own := bytes.Clone(p) // the caller may reuse p when the context has ended
	written := make(chan struct{})
	var size int
	var failure error
	go func() { // it ends with the program if the write blocks
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
