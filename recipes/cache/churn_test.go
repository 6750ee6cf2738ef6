package cache_test

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// There is always something that the cache has not read yet. On a single
// processor, the cache sees an answer and the events behind it at once.
func TestCacheTakesStepsInATreeThatNeverRests(t *testing.T) {
	for _, processors := range []int{1, 2} {
		t.Run(fmt.Sprint(processors, " processors"), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			testTreeThatNeverRests(t)
		})
	}
}

func testTreeThatNeverRests(t *testing.T) {
	const nodes, every = 100, 2 * time.Millisecond
	changes := thorough.Size(2000, 500)
	for _, version := range []string{"3.9", "3.8"} {
		for _, latency := range []time.Duration{time.Millisecond, 20 * time.Millisecond} {
			t.Run(fmt.Sprint(version, " ", latency), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv := servers[version](t)
					client := connect(t, srv)
					create(t, srv, "/r")
					for i := range nodes {
						create(t, srv, fmt.Sprintf("/r/%d", i))
					}
					c := open(t, client, "/r")
					for _, op := range []zktest.Op{zktest.OpGetData, zktest.OpMultiRead} {
						srv.Inject(zktest.Rule{Op: op, Times: -1, Do: zktest.DelayReply(latency)})
					}
					steps := map[int64]struct{}{}
					var behind time.Duration
					go func() {
						for ch := range c.Changes(t.Context()) {
							if ch.Type == cache.Changed {
								steps[ch.Zxid] = struct{}{}
								behind = max(behind, time.Since(time.UnixMilli(ch.New.Stat.Mtime)))
							}
						}
					}()
					for i := range changes {
						require.NoError(t, srv.Set(fmt.Sprintf("/r/%d", i%nodes), nil))
						time.Sleep(every)
					}
					synctest.Wait()
					t.Logf("%d steps, at most %v behind", len(steps), behind)
					// one after each read, but for the last ones
					require.GreaterOrEqual(t, len(steps), min(changes, int(time.Duration(changes)*every/latency))*95/100)
				})
			})
		}
	}
}
