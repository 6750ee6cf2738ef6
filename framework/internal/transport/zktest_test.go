package transport

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// connect returns a client of go-zookeeper whose connections to the server are wrapped.
func connect(t *testing.T, srv *zktest.Server, l *Link) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect([]string{srv.Addr()}, 9*time.Second, zk.WithLogger(quiet{}),
		zk.WithDialer(func(network, address string, _ time.Duration) (net.Conn, error) {
			nc, err := srv.DialTimeout(network, address, 0)
			if err != nil {
				return nil, err
			}
			return l.Wrap(nc, time.Now().Add(6*time.Second)), nil
		}))
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		l.Close()
		for range events {
		}
	})
	return conn
}

func withLibrary(t *testing.T, test func(t *testing.T, srv *zktest.Server, l *Link, conn *zk.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv, l := zktest.New(t), NewLink()
		test(t, srv, l, connect(t, srv, l))
	})
}

type counts struct{ watches, withdrawing int }

// remembered returns how much a link keeps.
func remembered(l *Link) counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return counts{len(l.watches), len(l.withdrawing)}
}

// After a reconnect the requests that were queued meanwhile come after the watches, which come in batches of 128 KiB.
func TestQueuedRequestsFollowEveryBatchOfWatches(t *testing.T) {
	for _, n := range []int{1, 10, 3000} {
		withLibrary(t, func(t *testing.T, srv *zktest.Server, l *Link, conn *zk.Conn) {
			for i := range n {
				_, _, _, err := conn.ExistsW(fmt.Sprintf("/%s-%d", strings.Repeat("x", 150), i))
				require.NoError(t, err)
			}
			srv.RefuseConnections(true)
			srv.CutAll()
			synctest.Wait()
			srv.ClearRequests()
			var all sync.WaitGroup
			for range 10 { // the library's queue holds sixteen
				all.Go(func() { conn.Get("/") }) // which may be given up
			}
			srv.RefuseConnections(false)
			// With one server the library gives up what is queued when it starts over; these come while it connects.
			srv.Inject(zktest.Rule{Op: zktest.OpConnect, Do: zktest.DelayRequest(time.Second)})
			time.Sleep(1500 * time.Millisecond)
			for range 10 {
				all.Go(func() {
					_, _, err := conn.Get("/")
					require.NoError(t, err)
				})
			}
			all.Wait()
			batches, reads := 0, 0
			for _, r := range srv.Requests() {
				switch r.Op {
				case zktest.OpSetWatches:
					batches++
					require.Zero(t, reads, "a read overtook the watches")
				case zktest.OpGetData:
					reads++
				}
			}
			require.Positive(t, batches)
			require.GreaterOrEqual(t, reads, 10)
			if n == 3000 {
				require.Greater(t, batches, 2)
			}
			require.Len(t, srv.Watches(), n)
		})
	}
}

func TestWithdrawnWatchIsForgottenByServerAndLibrary(t *testing.T) {
	withLibrary(t, func(t *testing.T, srv *zktest.Server, l *Link, conn *zk.Conn) {
		_, _, _, err := conn.GetW("/")
		require.NoError(t, err)
		_, _, _, err = conn.ChildrenW("/")
		require.NoError(t, err)
		_, _, _, err = conn.ExistsW("/missing")
		require.NoError(t, err)
		for i, w := range []Watch{{"/", Data}, {"/missing", Data}, {"/", Children}} {
			l.Withdraw(w)
			synctest.Wait()
			require.Len(t, srv.Watches(), 2-i, "%v", w)
		}
		require.Zero(t, remembered(l).watches)
		require.Zero(t, remembered(l).withdrawing)
		srv.ClearRequests()
		srv.CutAll()
		time.Sleep(3 * time.Second)
		require.Zero(t, srv.CountRequests(zktest.OpSetWatches))
		srv.AssertNoWatches(t)
	})
}

func TestWatchWithdrawnWhileDisconnectedIsGoneAfterTheReconnect(t *testing.T) {
	withLibrary(t, func(t *testing.T, srv *zktest.Server, l *Link, conn *zk.Conn) {
		for _, path := range []string{"/", "/kept"} {
			_, _, _, err := conn.ExistsW(path)
			require.NoError(t, err)
		}
		srv.CutAll()
		synctest.Wait()
		l.Withdraw(Watch{"/", Data})
		time.Sleep(3 * time.Second)
		require.Len(t, srv.Watches(), 1)
		require.Equal(t, "/kept", srv.Watches()[0].Path)
		require.Zero(t, remembered(l).withdrawing)
	})
}

func TestWithdrawalThatWasNotAnsweredIsRepeated(t *testing.T) {
	for _, fault := range []zktest.Action{zktest.DropRequest, zktest.DropReply, zktest.Mute} {
		withLibrary(t, func(t *testing.T, srv *zktest.Server, l *Link, conn *zk.Conn) {
			_, _, _, err := conn.GetW("/")
			require.NoError(t, err)
			srv.Inject(zktest.Rule{Op: zktest.OpRemoveWatches, Times: 2, Do: fault})
			l.Withdraw(Watch{"/", Data})
			time.Sleep(time.Minute)
			srv.AssertNoWatches(t)
			require.Equal(t, 3, srv.CountRequests(zktest.OpRemoveWatches))
			require.Zero(t, remembered(l).withdrawing)
			require.Zero(t, remembered(l).watches)
		})
	}
}

func TestWatchThatIsSetAgainAtOnceIsKept(t *testing.T) {
	withLibrary(t, func(t *testing.T, srv *zktest.Server, l *Link, conn *zk.Conn) {
		var events <-chan zk.Event
		for range 50 {
			if events != nil {
				l.Withdraw(Watch{"/", Data})
			}
			var err error
			_, _, events, err = conn.GetW("/")
			require.NoError(t, err)
		}
		synctest.Wait()
		require.Len(t, srv.Watches(), 1)
		require.Equal(t, 1, remembered(l).watches)
		srv.CutAll()
		time.Sleep(3 * time.Second)
		_, err := conn.Set("/", nil, -1)
		require.NoError(t, err)
		require.Equal(t, zk.EventNodeDataChanged, (<-events).Type)
	})
}

// The mirror of the library's watches decides how long the gate stays closed, so it must not differ from the original.
func TestMirrorOfTheLibrarysWatchesIsExact(t *testing.T) {
	withLibrary(t, func(t *testing.T, srv *zktest.Server, l *Link, conn *zk.Conn) {
		acl := zk.WorldACL(zk.PermAll)
		for i := range 40 {
			path := fmt.Sprintf("/n%d", i%4)
			switch i % 5 {
			case 0:
				conn.Create(path, nil, 0, acl)
			case 1:
				conn.GetW(path)
			case 2:
				conn.ExistsW(path)
			case 3:
				conn.ChildrenW(path)
			case 4:
				conn.Delete(path, -1)
			}
			if i%7 == 6 {
				synctest.Wait()
				want := remembered(l).watches
				srv.ClearRequests()
				srv.CutAll()
				time.Sleep(2 * time.Second)
				require.Zero(t, srv.CountRequests(zktest.OpPing), "the gate was not opened by a ping")
				require.NoError(t, func() error { _, err := conn.Sync("/"); return err }())
				require.LessOrEqual(t, len(srv.Watches()), want)
			}
		}
	})
}
