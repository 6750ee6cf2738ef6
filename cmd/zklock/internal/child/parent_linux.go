package child

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this program the parent of its descendants whose own
// parents have died, so that it can wait for them.
func adoptOrphans() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // older kernels: waitGroupGone
}

// dieWithThread has the command get SIGTERM when the thread that starts it
// ends.
func dieWithThread(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }

// executable is this program, even if its file was replaced meanwhile.
func executable() (string, error) { return "/proc/self/exe", nil }
