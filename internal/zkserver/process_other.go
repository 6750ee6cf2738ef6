//go:build !linux

package zkserver

import (
	"context"
	"syscall"
	"time"
)

// dieWithParent returns nil: other systems have nothing like it.
func dieWithParent() *syscall.SysProcAttr { return nil }

// awaitStopped waits until the server no longer answers, answers slowly, or is resumed.
// The signal that stops a process takes effect some time after it was sent, one thread
// at a time.
func (s *Server) awaitStopped(_ *process, resumed <-chan struct{}) {
	const silence = 50 * time.Millisecond
	for answered := true; answered && !isClosed(resumed); {
		ctx, cancel := context.WithTimeout(context.Background(), silence)
		_, err := fourLetter(ctx, s.Addr(), "ruok")
		cancel()
		answered = err == nil
	}
}
