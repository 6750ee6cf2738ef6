package zkserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// dieWithParent has the kernel kill the command when the thread that starts it ends: see process.own for why that is
// when this program ends. A pipe to the command's stdin, the portable way to tell it, would not do: ZooKeeper
// does not read it, and a helper between us and the JVM would get the signals that are meant for the JVM.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

var errThreadRunning = errors.New("a thread of the server runs")

// awaitStandstill returns when the server has stopped, or ended. The signal that stops a process takes effect some time after
// it was sent, one thread at a time.
func (s *Server) awaitStopped() {
	p := s.process()
	_ = poll(context.Background(), p.done, func(context.Context) error {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
		for _, name := range threads {
			if stat, err := os.ReadFile(name); err == nil && !isStopped(stat) {
				return errThreadRunning
			}
		}
		return nil
	})
}

// standsStill reports whether a thread is stopped, by a signal or a debugger, or dead. Its state follows after its name, which
// may be anything.
func isStopped(stat []byte) bool {
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return len(state) > 0 && bytes.IndexByte([]byte("TtZX"), state[0]) >= 0
}
