//go:build !linux

package zkserver

import (
	"context"
	"syscall"
	"time"
)

// dieWithParent returns nothing: these systems do not offer it.
func dieWithParent() *syscall.SysProcAttr { return nil }

// awaitStandstill returns when the server does not answer any more, or is slow to. The signal that stops a process takes
// effect some time after it was sent, one thread at a time.
func (s *Server) awaitStandstill() {
	const silence = 50 * time.Millisecond
	for answered := true; answered; {
		ctx, cancel := context.WithTimeout(context.Background(), silence)
		_, err := fourLetter(ctx, s.Addr(), "ruok")
		cancel()
		answered = err == nil
	}
}
