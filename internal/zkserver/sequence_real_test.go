//go:build real

package zkserver

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

func TestWithSequence(t *testing.T) {
	t.Parallel()
	srv := Start(t, WithSequence("/locks/old", 1<<31-3), WithSequence("/locks/older/one", 7))
	conn := connect(t, srv.Addr())
	requireNext(t, conn, "/locks/old/n-", "/locks/old/n-2147483645")
	requireNext(t, conn, "/locks/older/one/n-", "/locks/older/one/n-0000000007")
	require.NoError(t, srv.Restart())
	requireNext(t, conn, "/locks/old/n-", "/locks/old/n-2147483646")

	_, stat, err := conn.Get("/locks")
	require.NoError(t, err)
	require.EqualValues(t, 2, stat.NumChildren)
	require.EqualValues(t, 2, stat.Cversion)
	_, stat, err = conn.Get("/locks/older/one")
	require.NoError(t, err)
	require.EqualValues(t, 1, stat.NumChildren)
	require.EqualValues(t, 2*8-1, stat.Cversion)
}

func TestWithSequenceInAnEnsemble(t *testing.T) {
	t.Parallel()
	ensemble := StartEnsemble(t, 3, WithSequence("/locks", 41))
	for i, want := range []string{"/locks/n-0000000041", "/locks/n-0000000042", "/locks/n-0000000043"} {
		requireNext(t, connect(t, ensemble.Members()[i].Addr()), "/locks/n-", want)
	}
}

func requireNext(t *testing.T, conn *zk.Conn, path, want string) {
	t.Helper()
	waitCaughtUp(t, conn) // the connection may be down after a restart
	got, err := conn.Create(path, nil, zk.FlagSequence, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	require.Equal(t, want, got)
}
