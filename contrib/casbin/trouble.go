package zkwatcher

import (
	"time"

	"github.com/gocurator/curator/framework"
)

// pauses are those between the attempts of one call, which grow.
type pauses struct {
	next time.Duration
	told string // the last error that is in the log
}

const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 30 * time.Second
)

// wait pauses, and reports whether the Watcher goes on.
func (w *Watcher) wait(p *pauses) bool {
	p.next = min(max(2*p.next, shortestPause), longestPause)
	enough := time.NewTimer(p.next)
	defer enough.Stop()
	select {
	case <-enough.C:
		return true
	case <-w.value.Done():
		return false
	}
}

// warnOnce logs an error, unless the one before it was the same.
func (w *Watcher) warnOnce(p *pauses, what string, err error) {
	if p.told != err.Error() {
		p.told = err.Error()
		w.warn(what, err)
	}
}

func (w *Watcher) warn(what string, err error) {
	framework.Extend(w.client).Logger().Warn(what, "curator.znode.path", w.path, "curator.cause", err.Error())
}
