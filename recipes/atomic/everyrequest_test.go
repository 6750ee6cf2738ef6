package atomic_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/internal/recipetest"
	"github.com/gocurator/curator/testing/zktest"
)

// fates are what may happen to a request.
func fates(w *world) map[string]zktest.Action {
	expire := zktest.Call(func(r zktest.Request) { go w.Fake.Session(r.Session).Expire() })
	expireAfter := zktest.CallAfter(func(r zktest.Request) { go w.Fake.Session(r.Session).Expire() })
	replace := zktest.Call(func(r zktest.Request) { w.Fake.Session(r.Session).Replace() })
	return map[string]zktest.Action{
		"answered late":          zktest.DelayReply(4 * time.Second),
		"processed late":         zktest.DelayRequest(4 * time.Second),
		"lost":                   zktest.DropRequest(),
		"answer lost":            zktest.DropReply(),
		"the server is restless": zktest.Fail(zktest.ErrSystem),
		"session replaced":       zktest.All(replace, zktest.DropReply()),

		"answered too late":     zktest.DelayReply(time.Minute),
		"processed too late":    zktest.DelayRequest(time.Minute),
		"swallowed":             zktest.Blackhole(),
		"answer swallowed":      zktest.BlackholeReply(),
		"lost with the session": zktest.All(expire, zktest.DropRequest()),
		"session lost after":    zktest.All(expireAfter, zktest.DropReply()),
		"session ended before":  expire,
	}
}

// harmlessFates lose no session, so that a receipt tells what has become of a
// write.
var harmlessFates = []string{
	"answered late", "processed late", "lost", "answer lost", "the server is restless", "session replaced",
}

// deadlyFates lose a session, at least if the fault hits the wrong request.
var deadlyFates = []string{
	"answered too late", "processed too late", "swallowed", "answer swallowed", "lost with the session",
	"session lost after", "session ended before",
}

// tally counts what has become of changes of one each.
type tally struct{ applied, unknown int64 }

func (c *tally) note(t *testing.T, err error) {
	t.Helper()
	switch {
	case err == nil:
		c.applied++
	case errors.Is(err, framework.ErrOutcomeUnknown):
		c.unknown++
	default:
		t.Errorf("neither applied nor unknown: %v", err)
	}
}

// A fault hits one request of some Adds, whichever it is, while another client
// adds the same. The count has what was said to be applied, and what is unknown
// may come on top of that. With receipts nothing is unknown, as long as the
// session lives.
func TestFaultAtEveryRequestOfACount(t *testing.T) {
	for name, opts := range waysToCount {
		for i, fate := range append(harmlessFates, deadlyFates...) {
			mayDoubt := opts == nil || name == "promoted" || i >= len(harmlessFates)
			t.Run(name+"/"+fate, func(t *testing.T) {
				recipetest.EachRequest(t, 4, func(t *testing.T, i int) (hit bool) {
					inVirtualTime(t, func(t *testing.T, w *world) {
						hit = w.countWithFaultAt(t, opts, fate, i, mayDoubt)
					})
					return hit
				})
			})
		}
	}
}

// countWithFaultAt lets a count run into a fault at its i-th request. It
// reports whether there was such a request.
func (w *world) countWithFaultAt(t *testing.T, opts []atomic.Option, fate string, i int, mayDoubt bool) (hit bool) {
	ctx := w.Patience(t)
	host := w.Fake.NewHost()
	c, err := framework.New(w.Addr, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(w.Session))
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.WaitConnected(ctx))
	other, _ := w.Connect(t)
	mine, theirs := atomic.NewLong(c, "/n", opts...), atomic.NewLong(other, "/n")

	fault := w.Fake.Inject(zktest.Rule{Session: c.SessionID(), After: i, Do: fates(w)[fate]})
	var count tally
	for range 3 {
		others := make(chan error, 1)
		go func() {
			time.Sleep(time.Second) // while ours hangs, if it does
			_, err := theirs.Add(ctx, 1)
			others <- err
		}()
		_, err := mine.Add(ctx, 1)
		count.note(t, err)
		count.note(t, <-others)
	}
	time.Sleep(90 * time.Second) // what was late has arrived
	now, err := theirs.Load(ctx)
	require.NoError(t, err)
	require.GreaterOrEqual(t, now, count.applied, "what was said to be applied was applied")
	require.LessOrEqual(t, now, count.applied+count.unknown, "nothing was applied twice")
	require.LessOrEqual(t, count.unknown, int64(1), "one fault makes one doubt")
	if !mayDoubt {
		require.Zero(t, count.unknown, "a receipt tells")
	}
	return fault.Hits() > 0
}

// The reply to a write is lost, and at that moment somebody else writes what
// the write was to leave. That was not us. So it is with two who make 6 out of
// 5, in Curator, and one of them is lost.
func TestSameDataOfAnotherWriterIsNotOurs(t *testing.T) {
	for name, opts := range waysToCount {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				c, _ := w.Connect(t)
				n := atomic.NewLong(c, "/n", opts...)
				require.NoError(t, n.Store(ctx, 5))
				six := []byte{0, 0, 0, 0, 0, 0, 0, 6}
				w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Path: "/n", Do: zktest.All(
					zktest.Call(func(zktest.Request) { _ = w.Fake.Set("/n", six) }), zktest.DropRequest())})
				now, err := n.Add(ctx, 1)
				if name == "plain" || name == "promoted" {
					require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
					require.Equal(t, six, w.dataOf(t, "/n"))
					return
				}
				require.NoError(t, err)
				require.EqualValues(t, 7, now, "after the 6 of another")
			})
		})
	}
}

// The reply to a write is lost, and others have written since. A receipt tells
// that it was applied, and so the answer is that of the first time.
func TestReceiptTellsAfterWritesOfOthers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx := w.Patience(t)
		c, _ := w.Connect(t)
		n := atomic.NewLong(c, "/n", atomic.WithReceipts("/receipts"))
		require.NoError(t, n.Store(ctx, 5))
		w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Path: "/n", Do: zktest.All(
			zktest.CallAfter(func(zktest.Request) {
				_ = w.Fake.Set("/n", []byte{0, 0, 0, 0, 0, 0, 0, 50})
				_ = w.Fake.Set("/n", []byte{0, 0, 0, 0, 0, 0, 0, 60})
			}), zktest.DropReply())})
		now, err := n.Add(ctx, 1)
		require.NoError(t, err)
		require.EqualValues(t, 6, now)
		now, err = n.Load(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 60, now)
		now, err = n.Add(ctx, 1)
		require.NoError(t, err)
		require.EqualValues(t, 61, now)
		require.Len(t, w.Fake.Children("/receipts"), 1)
	})
}

// The first attempt of a write seems to be lost, and is not. It arrives when
// the second attempt is on its way already. One of them is applied, never both.
func TestFirstAttemptThatArrivesLate(t *testing.T) {
	for name, opts := range waysToCount {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx := w.Patience(t)
				c, _ := w.Connect(t)
				n := atomic.NewLong(c, "/n", opts...)
				require.NoError(t, n.Store(ctx, 5))
				six := []byte{0, 0, 0, 0, 0, 0, 0, 6}
				w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Path: "/n", Do: zktest.DropRequest()})
				arrives := zktest.Call(func(zktest.Request) {
					_ = w.Fake.Set("/n", six)
					for _, receipt := range w.Fake.Children("/receipts") {
						second := []byte{0, 0, 0, 0, 0, 0, 0, 2} // the second write that uses the receipt
						_ = w.Fake.Set("/receipts/"+receipt, second)
					}
				})
				for _, op := range []zktest.Op{zktest.OpSetData, zktest.OpMulti} {
					w.Fake.Inject(zktest.Rule{Session: c.SessionID(), Op: op, Path: "/n", After: 1, Do: arrives})
				}
				now, err := n.Add(ctx, 1)
				if name == "plain" || name == "promoted" {
					require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
				} else {
					require.NoError(t, err)
					require.EqualValues(t, 6, now)
				}
				settle()
				require.Equal(t, six, w.dataOf(t, "/n"))
			})
		})
	}
}
