package zktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/testing/zktest"
)

func TestEphemeralNodeGoesWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		conn, events, err := zk.Connect([]string{srv.Addr()}, 10*time.Second, zk.WithLogInfo(false),
			zk.WithDialer(srv.DialTimeout))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Create("/leader", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}

		srv.Session(conn.SessionID()).Expire()
		if _, found := srv.Node("/leader"); found {
			t.Fatal("the node has survived its session")
		}
		conn.Close()
		for range events { // a bubble ends when all its goroutines have ended
		}
	})
}
