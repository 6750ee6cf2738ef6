package barriers

import (
	"log/slog"
	"strconv"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/semconv"
)

// Waited describes a call that has waited at a barrier.
type Waited struct {
	Op       string        // "wait" at a Barrier; "enter" or "leave" at a DoubleBarrier
	Path     string        // of the barrier, as the client names it
	Duration time.Duration // of the call
	Err      error         // that the call returns, or nil
}

// HookBarrierWaited is a clienttrace.Hook that is told how long each Wait, Enter
// and Leave of a client has waited, before it returns. The method must not
// panic.
type HookBarrierWaited interface {
	BarrierWaited(w Waited)
}

// HookBarrierMembersLost is a clienttrace.Hook that is told by each member of a
// DoubleBarrier that notices that n other members of its round were lost. A
// clienttrace.Teller makes the call: a hook that blocks holds up no member. The
// method must not panic.
type HookBarrierMembersLost interface {
	BarrierMembersLost(n int)
}

var (
	hookWaited      = framework.NewHookKind[HookBarrierWaited]()
	hookMembersLost = framework.NewHookKind[HookBarrierMembersLost]()
)

// traceWait tells the client's hooks of a call that is about to return.
func traceWait(c *framework.Client, op, path string, begun time.Time, err error) {
	for _, h := range hookWaited.Of(c) {
		h.BarrierWaited(Waited{Op: op, Path: path, Duration: time.Since(begun), Err: err})
	}
}

func traceLosses(c *framework.Client, n int) {
	for _, h := range hookMembersLost.Of(c) {
		framework.Extend(c).NewTeller().Post(func() { h.BarrierMembersLost(n) })
	}
}

// logPath is the attribute of a log line that names a node.
func logPath(c *framework.Client, path string) slog.Attr {
	return slog.String(semconv.ZNodePath, framework.Extend(c).FullPath(path))
}

// sessionText returns a session's id as ZooKeeper's own logs have it.
func sessionText(id int64) string { return "0x" + strconv.FormatUint(uint64(id), 16) }
