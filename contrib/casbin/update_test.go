package zkwatcher_test

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"

	zkwatcher "github.com/gocurator/curator/contrib/casbin"
)

func logTo(log *recipetest.Log) framework.Option {
	return framework.WithLogger(slog.New(slog.NewTextHandler(log, nil)))
}

func TestUpdateCallsTheOthers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b, c := w.instance(t), w.instance(t), w.instance(t, zkwatcher.WithOwnUpdates())
		require.Equal(t, []int{1, 1, 1}, []int{a.loads(), b.loads(), c.loads()}, "at the beginning")
		require.NoError(t, a.Update())
		settle()
		require.Equal(t, []int{0, 1, 1}, []int{a.loads(), b.loads(), c.loads()})
		require.NoError(t, c.Update())
		settle()
		require.Equal(t, []int{1, 1, 1}, []int{a.loads(), b.loads(), c.loads()}, "c wants its own updates, too")
		require.NoError(t, a.Update())
		require.NoError(t, b.Update())
		settle()
		require.NotZero(t, a.loads())
		require.NotZero(t, b.loads())
	})
}

func TestInstanceThatWasCutOffIsCalledOnce(t *testing.T) {
	for name, outage := range map[string]time.Duration{"interruption": 2 * time.Second, "loss of the session": time.Minute} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				a, b := w.instance(t), w.instance(t)
				b.loads()
				heal := b.network.Isolate()
				for range 5 {
					require.NoError(t, a.Update())
				}
				time.Sleep(outage)
				require.Zero(t, b.loads())
				heal()
				time.Sleep(time.Minute)
				require.Equal(t, 1, b.loads())
				require.NoError(t, a.Update())
				settle()
				require.Equal(t, 1, b.loads())
			})
		})
	}
}

func TestChangeInAnOutageIsToldAfterIt(t *testing.T) {
	for name, outage := range map[string]time.Duration{"interruption": 2 * time.Second, "loss of the session": time.Minute} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				a, b := w.instance(t), w.instance(t)
				b.loads()
				heal := a.network.Isolate()
				for _, wait := range []time.Duration{time.Second, 0, 0} {
					begun := time.Now()
					require.ErrorIs(t, a.Update(), zkwatcher.ErrPending)
					require.Equal(t, wait, time.Since(begun))
				}
				time.Sleep(outage)
				require.Zero(t, b.loads())
				heal()
				_, err := a.client.Session(w.Patience(t))
				require.NoError(t, err)
				settle()
				require.NotZero(t, b.loads(), "as soon as there is a connection")
				require.NoError(t, a.Update())
				settle()
				require.Equal(t, 1, b.loads())
			})
		})
	}
}

// A reply that is lost is no reason to tell nobody, whichever it is.
func TestChangeWhoseRequestFailsIsTold(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpSync, zktest.OpGetData, zktest.OpMulti} {
		for name, fault := range map[string]zktest.Action{
			"request": zktest.DropRequest(), "reply": zktest.DropReply(), "throttled": zktest.Fail(zktest.ErrThrottled),
		} {
			t.Run(op.String()+" "+name, func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					a, b := w.instance(t), w.instance(t)
					b.loads()
					session, err := a.client.Session(w.Patience(t))
					require.NoError(t, err)
					w.Fake.Inject(zktest.Rule{Op: op, Session: session.ID(), Times: 1, Do: fault})
					if err := a.Update(); err != nil {
						require.ErrorIs(t, err, zkwatcher.ErrPending)
					}
					time.Sleep(2 * time.Minute)
					require.NotZero(t, b.loads())
				})
			})
		}
	}
}

func TestUpdatesAtTheSameTimeShareAWrite(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.instance(t)
		require.NoError(t, a.Update()) // the node exists
		settle()
		b.loads()
		w.Fake.ClearRequests()
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DelayReply(100 * time.Millisecond)}) // the others wait
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if err := a.Update(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		settle()
		require.NotZero(t, b.loads())
		require.LessOrEqual(t, w.Fake.CountRequests(zktest.OpMulti), 2)
	})
}

func TestRefusedUpdateIsReturned(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a := w.instance(t)
		w.Fake.Inject(zktest.Rule{Op: zktest.OpMulti, Times: 1, Do: zktest.Fail(zktest.ErrNoAuth)})
		require.ErrorIs(t, a.Update(), zk.ErrNoAuth)
		require.NoError(t, a.Err(), "the Watcher goes on")
		require.NoError(t, a.Update())
		require.NoError(t, a.client.Close())
		require.Contains(t, a.log.String(), "never told of a change")
	})
}

// The change that waits is taken by one of two ways, at random.
func TestPendingChangeOfAWatcherThatIsClosed(t *testing.T) {
	for range 8 {
		inVirtualTime(t, func(t *testing.T, w *world) {
			a := w.instance(t)
			heal := a.network.Isolate()
			told := make(chan error, 2)
			for range cap(told) { // one is under way, the other one waits
				go func() { told <- a.Update() }()
				time.Sleep(time.Millisecond)
			}
			a.Close()
			require.ErrorIs(t, <-told, shared.ErrClosed)
			require.ErrorIs(t, <-told, shared.ErrClosed)
			require.ErrorIs(t, a.Update(), shared.ErrClosed)
			heal()
			require.NoError(t, a.client.Close())
			require.Equal(t, 2, strings.Count(a.log.String(), "never told of a change"))
		})
	}
}

// An operator may write or delete the node, with any tool.
func TestWhateverIsWrittenToTheNodeIsAChange(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.instance(t)
		long := strings.Repeat("<", 300_000) // six bytes each in JSON
		for _, data := range []string{
			"x", "x", "", "{}", "null", "17", `{"by":7}`, `{"by":"` + long + `"}`, `{"before":"` + long + `"}`,
			`{"by":"` + long[:128] + `","number":-9000000000000000000}`, `{"by":"` + long[:129] + `"}`,
		} {
			a.loads()
			b.loads()
			require.NoError(t, w.Fake.Set(path, []byte(data)))
			settle()
			require.Equal(t, []int{1, 1}, []int{a.loads(), b.loads()}, "%.20s", data)
			require.NoError(t, a.Update())
			settle()
			require.Equal(t, []int{0, 1}, []int{a.loads(), b.loads()}, "%.20s", data)
		}
		require.NoError(t, w.Fake.Delete(path))
		settle()
		require.Equal(t, []int{1, 1}, []int{a.loads(), b.loads()})
		require.NoError(t, a.Update())
		settle()
		require.Equal(t, 1, b.loads())
	})
}

// An operator who wants a load writes back what was there.
func TestSameDataWrittenAgainIsAChange(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		a, b := w.instance(t), w.instance(t)
		require.NoError(t, a.Update())
		settle()
		a.loads()
		b.loads()
		node, ok := w.Fake.Node(path)
		require.True(t, ok)
		for range 2 {
			require.NoError(t, w.Fake.Set(path, node.Data))
			settle()
			require.Equal(t, []int{1, 1}, []int{a.loads(), b.loads()})
		}
		require.NoError(t, a.Update())
		settle()
		require.Equal(t, []int{0, 1}, []int{a.loads(), b.loads()})
	})
}
