package locks_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/locks"
)

// zkConn returns a connection of go-zookeeper, closed at the end of the test.
func (w *world) zkConn(t *testing.T) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect([]string{w.Addr}, w.Session, zk.WithLogger(silent{}),
		zk.WithDialer(func(network, address string, timeout time.Duration) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			return w.Dial(ctx, network, address)
		}))
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		for range events { // closed when the last goroutine of the client ends
		}
	})
	return conn
}

// A mutex and go-zookeeper's Lock at one path are one lock. Contenders of both
// kinds are admitted in order of arrival, one at a time.
func TestGoZookeepersLockIsTheSameLock(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		const path, contenders = "/locks/shared-with-zk.Lock", 6
		ctx := w.Patience(t)
		conn := w.zkConn(t)
		inside := make(chan int, 1)       // has the number of the one inside
		admitted := make(chan int)        // numbers, in order of admission
		leave := make(chan struct{})      // lets the one inside leave
		failures := make(chan error, 100) // of each contender
		hold := func(number int) {
			inside <- number
			admitted <- number
			<-leave
			<-inside
		}
		for number := range contenders {
			if number%2 == 0 {
				lock := zk.NewLock(conn, path, zk.WorldACL(zk.PermAll))
				go func() {
					if err := lock.Lock(); err != nil {
						failures <- err
						return
					}
					hold(number)
					failures <- lock.Unlock()
				}()
			} else {
				// A separate client: goroutines of one client have two nodes together.
				client, _ := w.Connect(t)
				mutex := locks.NewInterProcessMutex(client, path)
				go func() {
					lease, err := mutex.Acquire(ctx)
					if err != nil {
						failures <- err
						return
					}
					hold(number)
					failures <- lease.Release(ctx)
				}()
			}
			w.WaitNodes(t, path, number+1)
		}
		for number := range contenders {
			require.Equal(t, number, <-admitted)
			require.Len(t, inside, 1)
			leave <- struct{}{}
			require.NoError(t, <-failures)
		}
		w.NothingLeft(t, path)
	})
}

type silent struct{}

func (silent) Printf(string, ...any) {}
