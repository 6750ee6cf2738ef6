package framework_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// The reader of a persistent watch has gone while the server had too much to do
// for that. A standard watch on the same path does not need it.
func TestThrottledWatchWithoutReadersIsAskedForNoMore(t *testing.T) {
	for _, kind := range []string{"data", "children"} {
		t.Run(kind, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				w := mustWatch(t, c, "/n")
				standard, err := watchKinds(c)[kind](t.Context(), "/n")
				require.NoError(t, err)
				throttled := srv.Inject(zktest.Rule{Op: zkinside.OpAddWatch, Times: -1, Do: zktest.Fail(zkinside.ErrThrottled)})
				srv.CutAll()
				time.Sleep(10 * time.Second)
				w.Close()
				time.Sleep(time.Second)
				before := throttled.Hits()
				time.Sleep(time.Hour)
				require.Equal(t, before, throttled.Hits())

				throttled.Remove()
				require.False(t, fired(standard))
				require.NoError(t, srv.Create("/n/c", nil))
				require.NoError(t, srv.Set("/n", nil))
				require.True(t, fired(standard))
				synctest.Wait()
				require.Empty(t, srv.Watches())
			})
		})
	}
}
