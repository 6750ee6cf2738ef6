package leader_test

import (
	"context"
	"path"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// A selector outlasts errors while it queues. Its caller sees nothing of them,
// so the error of a Run that gives up has the last one. That may be the error of
// an earlier request than the one that is under way then.
func TestRunInVainNamesWhatItHasOutlasted(t *testing.T) {
	for name, tc := range map[string]struct {
		do   zktest.Action
		want error
	}{
		"throttled": {zktest.Fail(zkinside.ErrThrottled), &framework.ServerError{Code: -127}},
		"hang-ups":  {zktest.DropRequest(), zk.ErrConnectionClosed},
	} {
		for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpGetData} {
			t.Run(name+"/"+op.String(), func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					first := w.run(t, w.Observer, "/s", 0)
					<-first.leads
					c, _ := w.Connect(t, framework.WithRetry(retry.None()))
					selector := leader.NewSelector(c, "/s")
					w.Fake.Inject(zktest.Rule{Optional: true, Session: c.SessionID(), Op: op, Times: 2, Do: tc.do})
					slow := w.Fake.Inject(zktest.Rule{Optional: true, Session: c.SessionID(), Op: op, After: 2, Times: -1, Do: zktest.DelayReply(2 * time.Second)})
					err := selector.Run(recipetest.Within(t, time.Second), idle)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.ErrorIs(t, err, tc.want)
					_, isAnswer := framework.ServerCode(err)
					require.Equal(t, name == "throttled", isAnswer)
					require.Positive(t, slow.Hits())

					err = selector.Run(recipetest.Within(t, time.Minute), idle)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.NotErrorIs(t, err, tc.want, "that is over")
					require.ErrorIs(t, first.stop(), context.Canceled)
				})
			})
		}
	}
}

// The error of a Run whose context ends in the queue names the leader, as the
// error of an acquire does.
func TestRunInVainNamesTheLeader(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		first := w.run(t, w.Observer, "/s", 0)
		lease := <-first.leads
		c, _ := w.Connect(t)
		err := leader.NewSelector(c, "/s").Run(recipetest.Within(t, time.Second), idle)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var waited *locks.NotAcquiredError
		require.ErrorAs(t, err, &waited)
		require.Equal(t, 1, waited.Ahead)
		require.Equal(t, path.Base(lease.Path()), waited.Holder)
		require.ErrorIs(t, first.stop(), context.Canceled)
	})
}
