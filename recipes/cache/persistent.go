package cache

import (
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// persistentSource learns of changes from one persistent watch.
type persistentSource struct{ w *framework.Watcher }

func (s *persistentSource) wake() <-chan struct{} { return s.w.Changed() }

func (s *persistentSource) drain(l *loop) error {
	for {
		_, caughtUp := s.w.CaughtUp()
		ev, ok, err := s.w.Poll()
		switch {
		case err != nil:
			return s.ended(l, err)
		case !ok && !caughtUp: // not because of what there is to read
			l.unwatched(s.w.Trouble())
			return nil
		case !ok:
			return nil
		case ev.Reset:
			l.reset()
		case ev.Type == zk.EventNodeCreated:
			l.changed(ev.Path, needNode|needScan, ev.After, ev.Type)
		case ev.Type != zk.EventNodeChildrenChanged:
			l.changed(ev.Path, needNode, ev.After, ev.Type)
		}
	}
}

// ended sets another watch, unless waiting does not cure the error.
func (s *persistentSource) ended(l *loop, err error) error {
	s.w.Close()
	l.syncing = true
	l.tellProgress()
	l.c.interrupted()
	if err := l.c.recovery.Wait(l.ctx, err); err != nil {
		return err
	}
	if err := l.open(); err != nil {
		return err
	}
	l.reset()
	return nil
}

func (s *persistentSource) caughtUp() (zxid int64, ok bool) { return s.w.CaughtUp() }

func (s *persistentSource) close() { s.w.Close() }
