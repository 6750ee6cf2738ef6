package certmagic_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	certstore "github.com/gocurator/curator/contrib/certmagic"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

const (
	root     = "/certmagic"
	certLock = "issue_cert_example.com"
	certKey  = "certificates/test/example.com/example.com.key"
)

// open is for tests that are not about rights.
var open = zk.WorldACL(zk.PermAll)

// process is one of a fleet: a client on a separate host, and a storage.
type process struct {
	*certstore.Storage
	host   *zktest.Host
	client *framework.Client
}

func start(t *testing.T, srv *zktest.Server) *process {
	t.Helper()
	host := srv.NewHost()
	client := curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))
	return &process{storageOf(t, client), host, client}
}

func storageOf(t *testing.T, c *framework.Client) *certstore.Storage {
	t.Helper()
	s, err := certstore.New(c, root, open)
	require.NoError(t, err)
	return s
}

// inVirtualTime runs a test with two processes.
func inVirtualTime(t *testing.T, test func(t *testing.T, srv *zktest.Server, a, b *process)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		test(t, srv, start(t, srv), start(t, srv))
	})
}

// bounded returns a context that lasts longer than any wait of a test.
func bounded(t *testing.T) context.Context { return within(t, 24*time.Hour) }

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), d)
	t.Cleanup(cancel)
	return ctx
}

// loseLock deletes the nodes of a lock behind the back of its holder, who learns of
// it later: no request of the holder is under way.
func loseLock(t *testing.T, srv *zktest.Server, lock string) {
	t.Helper()
	nodes := srv.Children(root + "/locks/" + lock)
	require.NotEmpty(t, nodes)
	for _, node := range nodes {
		require.NoError(t, srv.Delete(root+"/locks/"+lock+"/"+node))
	}
}

// requireValue requires that every process finds this value.
func requireValue(t *testing.T, s certmagic.Storage, key, value string) {
	t.Helper()
	found, err := s.Load(bounded(t), key)
	require.NoError(t, err)
	require.Equal(t, value, string(found))
}
