package cache_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// toldCache is a cache whose changes are followed.
type toldCache struct {
	*cache.Cache
	told *story
	// log returns what the client has logged, and closes the client.
	log func() string
}

// onEachWithCredentials is onEach with a client that has credentials, and a
// cache of /r with two children.
func onEachWithCredentials(t *testing.T, test func(t *testing.T, srv *zktest.Server, c toldCache)) {
	t.Helper()
	onEach(t, func(t *testing.T, srv *zktest.Server, _ *framework.Client) {
		var log bytes.Buffer
		client := connect(t, srv, framework.WithAuth("digest", []byte("me:secret")),
			framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		create(t, srv, "/r", "/r/a", "/r/b")
		c := toldCache{open(t, client, "/r"), &story{}, func() string {
			require.NoError(t, client.Close())
			return log.String()
		}}
		c.told.follow(t, c.Cache)
		require.Equal(t, []string{"created /r", "created /r/a", "created /r/b", "synced"}, c.told.next())
		test(t, srv, c)
	})
}

// refuseCredentials has servers refuse credentials a number of times. Minus one
// is without end.
func refuseCredentials(srv *zktest.Server, times int) {
	srv.Inject(zktest.Rule{Op: zkinside.OpAuth, Times: times, Do: zktest.Fail(zkinside.ErrAuthFailed)})
}

// refuseDuringSync cuts every connection. The Sync that follows is lost, and
// then servers refuse credentials.
func refuseDuringSync(srv *zktest.Server, times int) {
	refuse := zktest.Call(func(zktest.Request) { refuseCredentials(srv, times) })
	srv.Inject(zktest.Rule{Op: zktest.OpSync, Times: 1, Do: zktest.All(refuse, zktest.DropRequest())})
	srv.CutAll()
}

func TestCacheGoesOnWhenServersAcceptTheCredentialsAgain(t *testing.T) {
	for name, refuse := range map[string]func(srv *zktest.Server){
		"during a read": func(srv *zktest.Server) {
			srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: 1, Do: zktest.DropRequest()})
			refuseCredentials(srv, 5)
		},
		"during a Sync": func(srv *zktest.Server) { refuseDuringSync(srv, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			onEachWithCredentials(t, func(t *testing.T, srv *zktest.Server, c toldCache) {
				refuse(srv)
				require.NoError(t, srv.Set("/r/a", []byte("new")))
				for range 100 {
					time.Sleep(100 * time.Millisecond)
					require.Equal(t, []string{"/r", "/r/a", "/r/b"}, paths(c.Cache))
				}
				time.Sleep(3 * time.Minute)
				create(t, srv, "/r/c")
				require.NoError(t, c.WaitFor(within(t), srv.Stats().Zxid))
				require.Equal(t, []string{"/r", "/r/a", "/r/b", "/r/c"}, paths(c.Cache))
				n, _ := c.Get("/r/a")
				require.Equal(t, "new", string(n.Data))
			})
		})
	}
}
