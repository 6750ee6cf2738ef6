//go:build unix && !linux

package child

import "syscall"

// adoptOrphans is for Linux: elsewhere orphans go to the first process.
func adoptOrphans() {}

// wait waits for the command.
func (g *guarding) wait(flags int) (pid int, ws syscall.WaitStatus, err error) {
	pid, err = syscall.Wait4(-1, &ws, flags, nil)
	return pid, ws, err
}
