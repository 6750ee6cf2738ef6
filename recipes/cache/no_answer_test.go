package cache_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/zktest"
)

// A server has too much to do, says so at once, and the client does not try again by
// itself. The cache asks again after pauses.
func TestCacheOfAServerThatThrottlesItPauses(t *testing.T) {
	for name, op := range map[string]zktest.Op{
		"sync": zktest.OpSync, "data": zktest.OpGetData, "children": zktest.OpGetChildren, "several": zktest.OpMultiRead,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				create(t, srv, "/r", "/r/a", "/r/b", "/r/c")
				throttled := srv.Inject(zktest.Rule{Op: op, Times: 2000, Do: zktest.Fail(zktest.ErrThrottled)})
				time.AfterFunc(30*time.Second, throttled.Remove)
				c := open(t, connect(t, srv, framework.WithRetry(retry.None())), "/r")
				require.Greater(t, throttled.Hits(), 5)
				require.Less(t, throttled.Hits(), 1000)
				require.Equal(t, []string{"/r", "/r/a", "/r/b", "/r/c"}, paths(c))
			})
		})
	}
}
