//go:build unix

package zktest

import (
	"net"
	"syscall"
)

// tryWriter returns a function that writes to the connection as much as
// goes without waiting, and says how much that was. It is nil if there is no
// such thing; in memory it would gain nothing, because a pipe wakes its reader
// either way.
func tryWriter(nc net.Conn) func([]byte) int {
	c, canControl := nc.(syscall.Conn)
	if !canControl {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	var n int
	var frames []byte
	once := func(fd uintptr) bool { // made only once: it is what a request would allocate
		n, _ = syscall.Write(int(fd), frames)
		return true // false would mean to wait for more room
	}
	return func(p []byte) int {
		n, frames = 0, p
		_ = raw.Write(once) // an error comes again when the rest is written
		frames = nil
		return max(n, 0)
	}
}
