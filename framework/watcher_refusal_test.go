package framework_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// A server ends the connection for a request that is too long.
func TestWatcherOfAPathThatIsTooLongIsRefusedBeforeItIsSent(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		session, long := c.SessionID(), "/"+strings.Repeat("x", 2<<20)
		connections := make(chan struct{}, 100)
		go func() {
			for s := range c.States(t.Context()) {
				if !s.IsConnected() {
					connections <- struct{}{}
				}
			}
		}()
		w, err := c.NewWatcher(within(t, 30*time.Second), long)
		require.ErrorIs(t, err, framework.ErrRequestTooLarge)
		require.Nil(t, w)
		for _, err := range c.Watch(t.Context(), long) {
			require.ErrorIs(t, err, framework.ErrRequestTooLarge)
		}
		time.Sleep(time.Minute)
		require.Empty(t, connections)
		require.Equal(t, session, c.SessionID())
	})
}

// A client with many Watchers moves to a server that knows no persistent
// watches. Such a server ends the connection that asks for one.
func TestServerWithoutPersistentWatchesCostsOneConnection(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		var dials atomic.Int32
		c := newClient(t, srv, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.Add(1)
			conn, err := srv.Dialer()(ctx, network, address)
			return &closedWhenUnimplemented{Conn: conn}, err
		}))
		var watchers []*framework.Watcher
		for i := range 50 {
			watchers = append(watchers, mustWatch(t, c, fmt.Sprintf("/n%d", i)))
		}
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Times: -1, Do: zktest.Fail(zktest.ErrUnimplemented)})
		dials.Store(0)
		srv.CutAll()
		time.Sleep(5 * time.Minute)
		require.EqualValues(t, 2, dials.Load(), "one that the server ended, and the next")
		require.NoError(t, c.Sync(t.Context(), "/"))
		for _, w := range watchers {
			_, _, err := w.Poll()
			require.ErrorIs(t, err, &framework.ServerError{Code: int32(zktest.ErrUnimplemented)})
		}
	})
}

// closedWhenUnimplemented is a connection that ends after the answer
// "unimplemented", as those of real servers do.
type closedWhenUnimplemented struct {
	net.Conn
	rest bytes.Buffer
	end  bool
}

func (c *closedWhenUnimplemented) Read(p []byte) (int, error) {
	if c.rest.Len() > 0 {
		return c.rest.Read(p)
	}
	if c.end {
		return 0, io.EOF
	}
	length := make([]byte, 4)
	if _, err := io.ReadFull(c.Conn, length); err != nil {
		return 0, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(length))
	if _, err := io.ReadFull(c.Conn, frame); err != nil {
		return 0, err
	}
	const header, code = 16, 12
	if len(frame) == header && int32(binary.BigEndian.Uint32(frame[code:])) == int32(zktest.ErrUnimplemented) {
		c.end = true
		c.Close()
	}
	c.rest.Write(append(length, frame...))
	return c.rest.Read(p)
}

// A recursive watch may be refused where one of the node alone was not. The
// Watchers of the node go on, also on the next connection.
func TestRefusedRecursiveWatchEndsNoOther(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		require.NoError(t, srv.Create("/n", nil))
		w := mustWatch(t, c, "/n")
		refuse := func() {
			srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Path: "/n", Do: zktest.Fail(zktest.ErrNoAuth)})
			_, err := c.NewWatcher(within(t, 30*time.Second), "/n", framework.WithRecursion())
			require.ErrorIs(t, err, zk.ErrNoAuth)
		}
		refuse()
		require.NoError(t, srv.Set("/n", nil))
		require.Equal(t, []string{"changed /n"}, unread(t, w))

		srv.CutAll()
		time.Sleep(5 * time.Second)
		require.Equal(t, []string{"reset /n"}, unread(t, w))
		refuse()
		require.NoError(t, srv.Create("/n/c", nil))
		require.Equal(t, []string{"children /n"}, unread(t, w))

		tree := mustWatch(t, c, "/n", framework.WithRecursion())
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Path: "/n", Do: zktest.Fail(zktest.ErrNoAuth)})
		srv.CutAll()
		time.Sleep(5 * time.Second)
		_, err := tree.Next(t.Context())
		require.ErrorIs(t, err, zk.ErrNoAuth, "it is refused on the next connection")
		require.Equal(t, []string{"reset /n"}, unread(t, w))
		require.NoError(t, srv.Set("/n/c", nil))
		require.NoError(t, srv.Set("/n", nil))
		require.Equal(t, []string{"changed /n"}, unread(t, w))
		tree.Close()
		w.Close()
		synctest.Wait()
		srv.AssertNoWatches(t)
	})
}

// A standard watch rides on the watch of a Watcher that has gone. That it has no
// Watcher any more does not make it one that was refused.
func TestRefusedRecursiveWatchLeavesTheOneBelowAStandardWatch(t *testing.T) {
	for kind := range watchKinds(nil) {
		t.Run(kind, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				node := mustWatch(t, c, "/n")
				standard, err := watchKinds(c)[kind](t.Context(), "/n")
				require.NoError(t, err)
				node.Close()
				srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Path: "/n", Do: zktest.Fail(zktest.ErrNoAuth)})
				_, err = c.NewWatcher(within(t, time.Second), "/n", framework.WithRecursion())
				require.ErrorIs(t, err, zk.ErrNoAuth)

				require.False(t, fired(standard))
				require.NoError(t, srv.Delete("/n"))
				require.True(t, fired(standard))
				srv.AssertNoWatches(t)
			})
		})
	}
}

// The Watcher that the server has agreed to leaves while another one is refused.
//
// Promise: A recursive watch that is refused leaves no part of the watch before it.
func TestRefusedRecursiveWatchLeavesNothingOfTheOneBefore(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		node := mustWatch(t, c, "/n")
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Do: zktest.DelayRequest(time.Second)})
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Do: zktest.Fail(zktest.ErrNoAuth)})
		time.AfterFunc(time.Second/2, node.Close)
		_, err := c.NewWatcher(within(t, 10*time.Second), "/n", framework.WithRecursion())
		require.ErrorIs(t, err, zk.ErrNoAuth)
		synctest.Wait()
		srv.AssertNoWatches(t)
	})
}

// A standard watch on the path of a persistent one is not taken back, because a
// part of the other might go with it. There is no other if that is refused.
//
// Promise: A watch that is refused leaves no standard watch at its path.
func TestRefusedWatchLeavesNothingOfAStandardOne(t *testing.T) {
	for kind := range watchKinds(nil) {
		t.Run(kind, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				require.NoError(t, srv.Create("/n", nil))
				standard, err := watchKinds(c)[kind](t.Context(), "/n")
				require.NoError(t, err)
				srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Do: zktest.DelayRequest(time.Second)})
				srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Do: zktest.Fail(zktest.ErrNoAuth)})
				time.AfterFunc(time.Second/2, standard.Stop)
				_, err = c.NewWatcher(within(t, 10*time.Second), "/n")
				require.ErrorIs(t, err, zk.ErrNoAuth)
				synctest.Wait()
				srv.AssertNoWatches(t)
			})
		})
	}
}

// The server refuses a watch, and agrees to the recursive one that was asked for
// meanwhile.
//
// Promise: A recursive watch is set even if another watch at its path was refused.
func TestRecursiveWatchBehindARefusedOneIsSet(t *testing.T) {
	eachVersion(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Do: zktest.DelayRequest(time.Second)})
		srv.Inject(zktest.Rule{Op: zktest.OpAddWatch, Do: zktest.Fail(zktest.ErrNoAuth)})
		ctx := within(t, 10*time.Second)
		var node *framework.Watcher
		var refused error
		var first sync.WaitGroup
		first.Go(func() { node, refused = c.NewWatcher(ctx, "/n") })
		synctest.Wait()
		tree, err := c.NewWatcher(ctx, "/n", framework.WithRecursion())
		require.NoError(t, err)
		first.Wait()
		require.NoError(t, refused, "the server tells of the node")
		node.Close()
		changeEverything(t, srv)
		require.Equal(t, toldOfTree, unread(t, tree))
		tree.Close()
		synctest.Wait()
		srv.AssertNoWatches(t)
	})
}
