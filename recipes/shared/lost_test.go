package shared_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

// lostWrite is a TrySet whose first request, or its reply, is lost.
type lostWrite struct {
	*testing.T
	*world
	client *framework.Client
	n      *shared.Count
}

// onLostWrite runs a TrySet of 1 over 7, to whose write something happens. The
// check gets what TrySet has returned.
func onLostWrite(
	t *testing.T, happens func(l *lostWrite) zktest.Action,
	check func(l *lostWrite, now shared.Versioned[int32], ok bool, err error),
) {
	t.Helper()
	inVirtualTime(t, func(t *testing.T, w *world) {
		l := &lostWrite{T: t, world: w}
		l.client, _ = w.Connect(t)
		l.n = w.count(t, l.client, "/n", 7)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: happens(l)})
		now, ok, err := l.n.TrySet(w.Patience(t), get(t, l.n), 1)
		check(l, now, ok, err)
	})
}

// meanwhile has somebody else do something before the client is back.
func (l *lostWrite) meanwhile(do func()) zktest.Action {
	return zktest.CallAfter(func(zktest.Request) { do() })
}

func (l *lostWrite) set(n int32) func() {
	return func() { require.NoError(l, l.Fake.Set("/n", bytesOf(n))) }
}

func w32(l *lostWrite) int32 { return l.onServer(l.T, "/n") }

// The reply was lost, and the node has the next version and the same bytes.
// That does not prove that the bytes are ours: in the second case, they are
// not.
//
// Promise: After a lost reply, equal bytes do not prove that TrySet was applied.
func TestSameBytesProveNothing(t *testing.T) {
	for name, happens := range map[string]func(l *lostWrite) zktest.Action{
		"ours":            func(*lostWrite) zktest.Action { return zktest.DropReply() },
		"somebody else's": func(l *lostWrite) zktest.Action { return zktest.All(zktest.DropRequest(), l.meanwhile(l.set(1))) },
	} {
		t.Run(name, func(t *testing.T) {
			onLostWrite(t, happens, func(l *lostWrite, _ shared.Versioned[int32], ok bool, err error) {
				require.ErrorIs(l, err, framework.ErrOutcomeUnknown)
				require.False(l, ok)
				require.Equal(l, int32(1), w32(l))
				settle()
				require.Equal(l, int32(1), get(l.T, l.n).Value)
			})
		})
	}
}

// The previous value is the same as the next one.
// That the node has it does not mean that TrySet has written it.
//
// Promise: After a lost reply, a node that still has the expected version was not written.
func TestUnchangedNodeWasNotWritten(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		n := w.count(t, c, "/n", 7)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DropRequest()})
		now, ok, err := n.TrySet(w.Patience(t), get(t, n), 7)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, int32(1), now.Version)
		node, _ := w.Fake.Node("/n")
		require.Equal(t, int32(1), node.Stat.Version)
	})
}

// A write that was applied is never reported as one that was not, whatever has
// become of the node since.
//
// Promise: A write that was applied is never reported as not applied.
func TestAppliedIsNeverReportedAsNotApplied(t *testing.T) {
	remake := func(l *lostWrite, n int32) {
		require.NoError(l, l.Fake.Delete("/n"))
		require.NoError(l, l.Fake.Create("/n", bytesOf(n)))
	}
	for name, meanwhile := range map[string]func(l *lostWrite){
		"written over":              func(l *lostWrite) { l.set(2)() },
		"written over twice":        func(l *lostWrite) { l.set(2)(); l.set(1)() },
		"deleted":                   func(l *lostWrite) { require.NoError(l, l.Fake.Delete("/n")) },
		"re-created":                func(l *lostWrite) { remake(l, 2) },
		"re-created and written":    func(l *lostWrite) { remake(l, 2); l.set(3)() },
		"re-created, as it was":     func(l *lostWrite) { remake(l, 7) },
		"re-created, with our data": func(l *lostWrite) { remake(l, 1) },
		"the session is lost":       func(l *lostWrite) { go l.Fake.Session(l.client.SessionID()).Expire() },
	} {
		t.Run(name, func(t *testing.T) {
			onLostWrite(t, func(l *lostWrite) zktest.Action {
				return zktest.All(zktest.DropReply(), l.meanwhile(func() { meanwhile(l) }))
			}, func(l *lostWrite, _ shared.Versioned[int32], ok bool, err error) {
				require.ErrorIs(l, err, framework.ErrOutcomeUnknown)
				require.False(l, ok)
			})
		})
	}
}

// Set succeeds when the node has its value, whoever has written it. It writes
// again when nobody has, and does not know when somebody has written since.
func TestLostSet(t *testing.T) {
	for name, test := range map[string]struct {
		happens func(l *lostWrite) zktest.Action
		want    int32 // on the server
		unknown bool
	}{
		"reply lost":   {func(*lostWrite) zktest.Action { return zktest.DropReply() }, 1, false},
		"request lost": {func(*lostWrite) zktest.Action { return zktest.DropRequest() }, 1, false},
		"request lost, and the same was written": {func(l *lostWrite) zktest.Action {
			return zktest.All(zktest.DropRequest(), l.meanwhile(l.set(1)))
		}, 1, false},
		"request lost, and something else was written": {func(l *lostWrite) zktest.Action {
			return zktest.All(zktest.DropRequest(), l.meanwhile(l.set(2)))
		}, 2, true},
		"reply lost, and written over": {func(l *lostWrite) zktest.Action {
			return zktest.All(zktest.DropReply(), l.meanwhile(l.set(2)))
		}, 2, true},
		"session lost": {func(l *lostWrite) zktest.Action {
			return zktest.All(zktest.DropReply(), l.meanwhile(func() { go l.Fake.Session(l.client.SessionID()).Expire() }))
		}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				l := &lostWrite{T: t, world: w}
				l.client, _ = w.Connect(t)
				l.n = w.count(t, l.client, "/n", 7)
				w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: test.happens(l)})
				err := l.n.Set(w.Patience(t), 1)
				require.Equal(t, test.unknown, errors.Is(err, framework.ErrOutcomeUnknown), "%v", err)
				if !test.unknown {
					require.NoError(t, err)
					require.Equal(t, int32(1), get(t, l.n).Value)
				}
				require.Equal(t, test.want, w.onServer(t, "/n"))
				settle()
				require.Equal(t, test.want, get(t, l.n).Value)
			})
		})
	}
}
