package zktest

import (
	"net"
	"syscall"
)

// closePort makes the port of a listener refuse connections. The socket stays
// bound, so that the system does not give the port to another program that asks
// for any. In Linux, a shutdown of a socket that listens does just that.
func closePort(l net.Listener) {
	control(l, func(fd int) { _ = syscall.Shutdown(fd, syscall.SHUT_RD) })
}

// openPort is the opposite of closePort.
func openPort(l net.Listener) {
	control(l, func(fd int) { _ = syscall.Listen(fd, syscall.SOMAXCONN) })
}

func control(l net.Listener, do func(fd int)) {
	c, err := l.(*net.TCPListener).SyscallConn()
	if err == nil {
		_ = c.Control(func(fd uintptr) { do(int(fd)) }) // fails after Close only
	}
}
