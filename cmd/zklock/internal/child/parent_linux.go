package child

import "syscall"

// dieWithParent has the system kill a process when the thread ends that has
// started it.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// executable is this program, even if its file was replaced meanwhile.
func executable() (string, error) { return "/proc/self/exe", nil }

// parentOf returns the parent of a process, or 0 if the system does not tell.
func parentOf(pid int) int {
	p, _ := readProcess(pid)
	return p.parent
}
