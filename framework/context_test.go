package framework_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// The context of an operation may end while it awaits any of its requests.
// These tests disturb the n-th request of each operation, for every n there is,
// on the first attempt and on those that follow a lost reply.

type await struct {
	op      string
	n       int  // how many requests go through first
	retried bool // the operation's first write loses its reply, so that it has to find out
}

// eachAwait calls test for every request that every operation awaits. The test
// reports whether there was an n-th one.
func eachAwait(t *testing.T, fault string, test func(t *testing.T, a await) (hit bool)) {
	t.Helper()
	for op := range everyOperation(nil) {
		for _, retried := range []bool{false, true} {
			if !thorough.Picked(4, fault, op, retried) {
				continue
			}
			n := 0
			for test(t, await{op, n, retried}) {
				n++
			}
			require.Positive(t, n, "%s awaits something", op)
		}
	}
}

func (a await) prepare(t *testing.T, srv *zktest.Server, c *framework.Client) {
	mustCreate(t, c, "/n", "")
	if a.retried {
		for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpSetData, zktest.OpDelete, zkinside.OpSetACL, zktest.OpMulti} {
			srv.Inject(zktest.Rule{Optional: true, Op: op, Do: zktest.DropReply()})
		}
	}
}

// nothingLeft checks, some time after an operation was given up, that it has
// left nothing behind. Goroutines are checked by the end of the bubble.
func (a await) nothingLeft(t *testing.T, srv *zktest.Server, c *framework.Client, err error) {
	time.Sleep(2 * time.Minute)
	require.True(t, c.State().IsConnected(), "%+v", a)
	require.Empty(t, srv.Watches(), "%+v", a)
	for _, name := range srv.Children("/n") {
		if err == nil {
			break // the node is the caller's
		}
		require.False(t, strings.HasPrefix(name, "_c_"), "%+v left %s", a, name)
	}
	if strings.HasSuffix(a.op, "guaranteed") {
		require.NotContains(t, srv.Children("/"), "n", "%+v", a)
	}
}

// Promise: Every call returns when its context ends.
func TestOperationReturnsWhenItsDeadlineComesWhateverItAwaits(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]zktest.Action{
		"request muted":              zktest.Blackhole(),
		"reply muted":                zktest.BlackholeReply(),
		"request delayed":            zktest.DelayRequest(4 * time.Second),
		"reply delayed":              zktest.DelayReply(4 * time.Second),
		"request swallowed for long": zktest.DelayRequest(time.Hour),
	} {
		eachAwait(t, name, func(t *testing.T, a await) (hit bool) {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				a.prepare(t, srv, c)
				inj := srv.Inject(zktest.Rule{Optional: true, After: a.n, Do: fault})
				begin := time.Now()
				err := everyOperation(c)[a.op](within(t, 2*time.Second), "/n")
				switch hit = inj.Hits() > 0; {
				case !hit:
				case errors.Is(err, context.DeadlineExceeded):
					require.Equal(t, 2*time.Second, time.Since(begin), "%s %+v", name, a)
				case err == nil: // nobody awaits the withdrawal of a watch
					require.Less(t, time.Since(begin), 2*time.Second, "%s %+v", name, a)
				default:
					require.True(t, a.retried, "%s %+v", name, a)
					require.ErrorIs(t, err, framework.ErrOutcomeUnknown, "%s %+v", name, a)
				}
				if a.n == 0 && !a.retried {
					require.ErrorIs(t, err, context.DeadlineExceeded, "%s %+v", name, a)
				}
				inj.Remove()
				a.nothingLeft(t, srv, c, err)
			})
			return hit
		})
	}
}

func TestOperationThatIsCancelledBeforehandSendsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for name, call := range everyOperation(c) {
			if !strings.HasSuffix(name, "guaranteed") { // which goes on in the background
				require.ErrorIs(t, call(ctx, "/n"), context.Canceled)
			}
		}
		require.ErrorIs(t, c.WaitConnected(ctx), context.Canceled)
		_, err := c.Session(ctx)
		require.ErrorIs(t, err, context.Canceled)
		time.Sleep(time.Second)
		require.Empty(t, ops(srv))
	})
}
