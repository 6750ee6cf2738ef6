package grpcresolver_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/gocurator/curator/contrib/grpcresolver"
	"github.com/gocurator/curator/recipes/discovery"
)

// Calls wait for a stream of a connection that is lost. gRPC makes them elsewhere,
// and none fails: that says nothing of the instance.
func TestCallsThatHaveNotBegunTakeNobodyOut(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		over := make(chan struct{})
		t.Cleanup(func() { close(over) })
		kill := n.serveBy(t, here, newServer("orders", grpc.MaxConcurrentStreams(1)), func() (string, error) {
			<-over
			return here, nil
		})
		n.serve(t, there, "orders")
		w.put(t, replica("a", 1))
		w.put(t, replica("b", 2))
		conn := dial(t, &n, w.builder(), orders, withPolicy("turns"))
		ready(conn)
		ended := make(chan error, 18)
		for range 18 {
			go func() {
				_, err := ask(t.Context(), conn)
				ended <- err
			}()
			synctest.Wait()
		}
		require.Len(t, ended, 9, "the others are at the instance that hangs")
		kill()
		failed := 0
		for range 18 {
			if <-ended != nil {
				failed++
			}
		}
		require.Equal(t, 1, failed, "the one that had begun")
		again := &backend{address: here}
		again.code.Store(uint32(codes.Internal))
		n.serveWith(t, here, "orders", again.answer)
		time.Sleep(2 * time.Second)
		require.Equal(t, 1, calls(t, conn, 2), "the second in a row")
		again.code.Store(uint32(codes.OK))
		require.Len(t, everyone(t, conn), 2)
	})
}

// What an instance says may change while it is out. One that drains and leaves is
// forgotten, and its node may come back with another port.
func TestChangesOfAnInstanceThatIsOut(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		all := n.backends(t, w, 3)
		b, log := w.told(t)
		conn := dial(t, &n, b, orders, withPolicy("turns"))
		ready(conn)
		dials := n.dials.Load()
		all[0].code.Store(uint32(codes.Internal))
		require.Equal(t, 5, calls(t, conn, 30))
		i := replica("a", 1)
		i.Metadata = map[string]string{"zone": "b"}
		w.put(t, i)
		synctest.Wait()
		require.Zero(t, calls(t, conn, 30), "it is out whatever it says")
		require.Equal(t, dials, n.dials.Load())
		time.Sleep(10 * time.Second)
		require.Equal(t, 5, calls(t, conn, 30))
		require.Len(t, log.all(), 2)

		i.Disabled = true
		w.put(t, i)
		synctest.Wait()
		require.Len(t, everyone(t, conn), 2)
		w.remove(t, "a")
		outlastGrace()
		n.serve(t, "10.0.0.7:9", "orders")
		w.put(t, replica("a", 9))
		synctest.Wait()
		require.Len(t, everyone(t, conn), 3, "it is another one")
	})
}

// A channel that has been idle judges anew, and the hooks are told as before.
func TestEjectionInAChannelThatWasIdle(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		all := n.backends(t, w, 3)
		b, log := w.told(t)
		conn := dial(t, &n, b, orders, withPolicy("turns"), grpc.WithIdleTimeout(5*time.Second))
		all[0].code.Store(uint32(codes.Internal))
		for round := range 3 {
			ready(conn)
			require.Equal(t, 5, calls(t, conn, 30))
			require.Len(t, log.all(), round+1)
			time.Sleep(11 * time.Second)
			w.NoWatches(t)
		}
	})
}

// A call ends behind the end of its channel and of the client, and counts for
// nobody then.
func TestCallThatOutlastsItsChannel(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var n network
		all := n.backends(t, w, 2)
		client, _ := w.Connect(t)
		b := grpcresolver.NewBuilder(client, grpcresolver.WithCodec("curator", discovery.SpringCodec()))
		over := make(chan struct{})
		n.serveWith(t, "10.0.0.7:3", "orders", func() (string, error) { <-over; return "", nil })
		w.put(t, replica("c", 3))
		conn := dial(t, &n, b, orders, withPolicy("turns"))
		ready(conn)
		ended := make(chan error, 30)
		for range 30 {
			go func() {
				_, err := ask(t.Context(), conn)
				ended <- err
			}()
			synctest.Wait()
		}
		require.Len(t, ended, 20, fmt.Sprint(all))
		require.NoError(t, client.Close())
		require.NoError(t, conn.Close())
		for range 30 {
			<-ended
		}
		close(over)
	})
}
