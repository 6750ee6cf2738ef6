package cache_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// A failing server answers the request for the watch with an error that does not refuse
// the request, when the cache begins, or in a later session.
//
// Promise: A cache survives an error of its watch that is no refusal.
func TestCacheSurvivesErrorsOfItsWatch(t *testing.T) {
	for _, code := range []zktest.Code{-1, -2, -3, -4, -5, -7, -9, -122} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				client := connect(t, srv)
				create(t, srv, "/r", "/r/a")
				trouble := zktest.Rule{Op: zkinside.OpAddWatch, Times: 3, Do: zktest.Fail(code)}
				srv.Inject(trouble)
				c, err := cache.New(client, "/r")
				require.NoError(t, err)
				defer c.Close()
				require.NoError(t, c.WaitSynced(within(t)))

				srv.Inject(trouble)
				srv.Session(client.SessionID()).Expire()
				create(t, srv, "/r/b")
				time.Sleep(time.Minute)
				require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
				require.Equal(t, []string{"/r", "/r/a", "/r/b"}, paths(c))
			})
		})
	}
}
