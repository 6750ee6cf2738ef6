package cache_test

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// The close of the client ends the requests of a cache, and the context of the
// cache, in any order. That a read was ended is nothing that the server has said
// of the node.
func TestCloseOfTheClientDeletesNothing(t *testing.T) {
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t)
				create(t, srv, "/r", "/r/a")
				var log bytes.Buffer
				client := connect(t, srv, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				caches := make([]*cache.Cache, 100)
				for i := range caches {
					caches[i] = open(t, client, "/r")
				}
				for _, op := range []zktest.Op{zktest.OpGetData, zkinside.OpMultiRead} {
					srv.Inject(zktest.Rule{Optional: true, Op: op, Times: -1, Do: zktest.DelayReply(time.Hour)})
				}
				require.NoError(t, srv.Set("/r/a", []byte("new")))
				time.Sleep(time.Millisecond) // it is being read
				require.NoError(t, client.Close())
				synctest.Wait()
				for _, c := range caches {
					require.Equal(t, []string{"/r", "/r/a"}, paths(c))
				}
				require.NotContains(t, log.String(), "cannot read")
			})
		})
	}
}
