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

// dieWithParent makes the kernel kill the command when the thread that starts it ends.
// process.run locks that thread, so the thread ends with this program.
//
// The portable way is to close the command's stdin, but ZooKeeper does not read
// its stdin. A helper process in between would receive the signals that are
// meant for the JVM.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

var errThreadRunning = errors.New("a thread of the server runs")

// awaitStopped waits until every thread of the server is stopped, or the server is
// resumed or has ended. The signal that stops a process takes effect some time after it
// was sent, one thread at a time.
func (s *Server) awaitStopped(p *process, resumed <-chan struct{}) {
	_ = poll(context.Background(), p.done, func(context.Context) error {
		if isClosed(resumed) {
			return nil
		}
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
		for _, name := range threads {
			if stat, err := os.ReadFile(name); err == nil && !isStopped(stat) {
				return errThreadRunning
			}
		}
		return nil
	})
}

// isStopped reports whether a thread is dead, or stopped by a signal or a
// debugger. The thread's state follows its name, which may contain any
// character.
func isStopped(stat []byte) bool {
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return len(state) > 0 && bytes.IndexByte([]byte("TtZX"), state[0]) >= 0
}
