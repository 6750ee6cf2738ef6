//go:build unix

package child

import (
	"os"
	"sync"
	"syscall"
)

// children are the processes that this one has started by itself. A process has
// one set of children, whatever its program is made of, so the package has one
// variable.
var children = brood{own: map[int]*ownChild{}}

// brood tells the children that somebody here waits for from those that were
// adopted.
type brood struct {
	mu  sync.Mutex // held during a start: every child that is there is in own
	own map[int]*ownChild
}

// ownChild is a child that was started here, and is waited for.
type ownChild struct {
	pid   int
	proc  *os.Process
	ended chan struct{} // closed when it was waited for
}

// start starts a child.
func (b *brood) start(path string, args []string, files []*os.File, sys *syscall.SysProcAttr) (*ownChild, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	pid, err := spawn(path, args, os.Environ(), files, sys)
	if err != nil {
		return nil, err
	}
	proc, err := os.FindProcess(pid) // never fails on Unix
	if err != nil {
		return nil, err
	}
	c := &ownChild{pid: pid, proc: proc, ended: make(chan struct{})}
	b.own[c.pid] = c
	go func() {
		_, _ = proc.Wait()
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.own, c.pid)
		close(c.ended)
	}()
	return c, nil
}

// find returns a child by its id, or nil if it was not started here.
func (b *brood) find(pid int) *ownChild {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.own[pid]
}

// kill kills the child if it has not ended.
func (c *ownChild) kill() { _ = c.proc.Kill() }
