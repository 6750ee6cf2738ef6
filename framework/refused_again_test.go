package framework_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A persistent watch waits for a read, and nobody needs either when that is
// answered.
func TestReadThatAPersistentWatchHasWaitedForLeavesNothing(t *testing.T) {
	for kind := range watchKinds(nil) {
		t.Run(kind, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				srv.Inject(zktest.Rule{Path: "/n", Do: zktest.DelayReply(time.Second)})
				ctx, cancel := context.WithCancel(t.Context())
				go watchKinds(c)[kind](ctx, "/n")
				synctest.Wait()
				go c.NewWatcher(ctx, "/n")
				synctest.Wait()
				cancel()
				time.Sleep(10 * time.Second)
				synctest.Wait()
				srv.AssertNoWatches(t)
			})
		})
	}
}

// Of two standard watches, one is left while a persistent one is refused.
func TestRefusedWatchLeavesNothingOfOneOfTwoStandardOnes(t *testing.T) {
	for _, code := range []zktest.Code{zktest.ErrNoAuth, zktest.ErrUnimplemented} {
		for _, both := range []bool{false, true} {
			t.Run(fmt.Sprint(code, both), func(t *testing.T) {
				eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
					require.NoError(t, srv.Create("/n", nil))
					_, _, data, err := c.GetW(t.Context(), "/n")
					require.NoError(t, err)
					_, _, children, err := c.ChildrenW(t.Context(), "/n")
					require.NoError(t, err)
					srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Do: zktest.DelayRequest(time.Second)})
					srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Do: zktest.Fail(code)})
					time.AfterFunc(time.Second/2, func() {
						data.Stop()
						if both {
							children.Stop()
						}
					})
					_, err = c.NewWatcher(within(t, 10*time.Second), "/n")
					require.Error(t, err)
					children.Stop()
					synctest.Wait()
					srv.AssertNoWatches(t)
				})
			})
		}
	}
}

// A second request for the same watch is refused, behind one that was not.
func TestSecondRequestThatIsRefusedTakesNothingAway(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, srv.Create("/n", nil))
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Do: zktest.Fail(zktest.ErrThrottled)})
		refused := srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, After: 2, Do: zktest.Fail(zktest.ErrNoAuth)})
		ctx := within(t, 10*time.Second)
		opened := make(chan *framework.Watcher, 1)
		go func() {
			w, err := c.NewWatcher(ctx, "/n")
			if err != nil {
				t.Error(err)
			}
			opened <- w
		}()
		time.Sleep(50 * time.Millisecond)
		tree, err := c.NewWatcher(ctx, "/n", framework.WithRecursion())
		require.NoError(t, err)
		node := <-opened
		time.Sleep(time.Second)
		require.Zero(t, refused.Hits(), "the server has what is needed, and is not asked again")
		require.NoError(t, srv.Create("/n/c", nil))
		require.Equal(t, "children /n", strings.Join(unread(t, node), ","))
		require.NotEmpty(t, unread(t, tree))
	})
}
