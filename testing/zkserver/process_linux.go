package zkserver

import "syscall"

// dieWithParent has the kernel kill the command when the thread that starts it ends: see process.own for why that is
// when this program ends. A pipe to the command's stdin, the portable way to tell it, would not do: ZooKeeper
// does not read it, and a helper between us and the JVM would get the signals that are meant for the JVM.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
