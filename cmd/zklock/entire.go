package main

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// entire is a file that takes each text as a whole. A terminal or a pipe may be
// shared with a program that makes it non-blocking, for all who have it. A write
// that finds no room there fails, perhaps in the middle of the text. This one
// waits for room then, as it would have otherwise.
type entire struct{ *os.File }

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
		written, err := e.File.Write(p[n:])
		n += written
		if !errors.Is(err, syscall.EAGAIN) {
			return n, err
		}
		if err := awaitRoom(e.File); err != nil {
			return n, err
		}
	}
}
