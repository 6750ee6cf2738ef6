//go:build unix

package child

import (
	"os"
	"sync"
	"syscall"
)

// children are the child processes that this package has started. Children belong to
// the whole process, so the package has one global variable.
var children = brood{own: map[int]*ownChild{}}

// brood distinguishes children that this package has started and awaits from adopted
// children.
type brood struct {
	mu  sync.Mutex // held during a start, so that own has every started child
	own map[int]*ownChild
}

// ownChild is a child that this package has started and awaits.
type ownChild struct {
	pid   int
	proc  *os.Process
	ended chan struct{} // closed when the child was reaped
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

// find returns a child by its id, or nil if this package has not started it.
func (b *brood) find(pid int) *ownChild {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.own[pid]
}

// kill kills the child if it has not ended.
func (c *ownChild) kill() { _ = c.proc.Kill() }
