package sharednode_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/internal/sharednode"
	"github.com/gocurator/curator/retry"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// onNode runs a test in virtual time, with a node that exists.
func onNode(t *testing.T, test func(t *testing.T, srv *zktest.Server, n sharednode.Node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		require.NoError(t, srv.Create("/n", []byte("old")))
		test(t, srv, sharednode.Node{Client: curatortest.Connect(t, srv), Path: "/n"})
	})
}

// A node that is gone whenever it is read, and there whenever it is looked for, is
// read after pauses. No watch is left.
//
// Promise: A read of a node that is created and deleted again and again leaves no watch.
func TestReadOfANodeThatComesAndGoesPauses(t *testing.T) {
	onNode(t, func(t *testing.T, srv *zktest.Server, n sharednode.Node) {
		gone := srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: 1000, Do: zktest.Fail(zkinside.ErrNoNode)})
		time.AfterFunc(time.Minute, gone.Remove)
		s, watch, err := n.ReadW(t.Context())
		require.NoError(t, err)
		require.Equal(t, "old", string(s.Data))
		require.Greater(t, gone.Hits(), 5)
		require.Less(t, gone.Hits(), 30)
		watch.Stop()
		time.Sleep(time.Second)
		synctest.Wait()
		require.Empty(t, srv.Watches())
	})
}

// A server answers at once that it has failed, before or after the write, and does
// not write, time and again.
func TestWriteThatIsNotAppliedPauses(t *testing.T) {
	onNode(t, func(t *testing.T, srv *zktest.Server, n sharednode.Node) {
		base, err := n.Read(t.Context())
		require.NoError(t, err)
		trouble := srv.Inject(zktest.Rule{Op: zktest.OpMulti, Path: "/n", Times: 1000, Do: zktest.Fail(zkinside.ErrSystem)})
		time.AfterFunc(time.Minute, trouble.Remove)
		s, err := n.Set(t.Context(), base, []byte("new"))
		require.NoError(t, err)
		require.Equal(t, "new", string(s.Data))
		require.Greater(t, trouble.Hits(), 5)
		require.Less(t, trouble.Hits(), 30)
	})
}

// If the client is closed during a pause, the call does not wait for its end.
//
// Promise: The pauses of a shared value end when the client is closed.
func TestPausesEndWithTheClient(t *testing.T) {
	for name, call := range map[string]func(context.Context, sharednode.Node) error{
		"write": func(ctx context.Context, n sharednode.Node) error {
			_, err := n.Set(ctx, nil, []byte("new"))
			return err
		},
		"read": func(ctx context.Context, n sharednode.Node) error {
			_, _, err := n.ReadW(ctx)
			return err
		},
		"read of what is created": func(ctx context.Context, n sharednode.Node) error {
			_, _, err := n.ReadSeeded(ctx, nil, true)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			onNode(t, func(t *testing.T, srv *zktest.Server, n sharednode.Node) {
				for _, op := range []zktest.Op{zktest.OpMulti, zktest.OpGetData} {
					srv.Inject(zktest.Rule{Optional: true, Op: op, Times: -1, Do: zktest.Fail(zkinside.ErrNoNode)})
				}
				over := make(chan error)
				go func() { over <- call(t.Context(), n) }()
				time.Sleep(30*time.Second + time.Millisecond)
				begun := time.Now()
				require.NoError(t, n.Client.Close())
				require.ErrorIs(t, <-over, framework.ErrClosed)
				require.Zero(t, time.Since(begun))
			})
		})
	}
}

// The look-up after a lost reply meets a server that is out of order. The outcome
// stays unknown, and the caller hears that at once.
func TestLookUpDoesNotWaitForAFailingServer(t *testing.T) {
	onNode(t, func(t *testing.T, srv *zktest.Server, n sharednode.Node) {
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, Do: zktest.DropReply()})
		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: -1, Do: zktest.Fail(zkinside.ErrSystem)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := n.Set(ctx, nil, []byte("new"))
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		require.NoError(t, ctx.Err())
		code, _ := framework.ServerCode(err)
		require.EqualValues(t, zkinside.ErrSystem, code)
	})
}

// The session is lost before the request is sent. It is sent in the next one.
func TestAttemptThatWasNotSentIsMadeInTheNextSession(t *testing.T) {
	onNode(t, func(t *testing.T, _ *zktest.Server, n sharednode.Node) {
		sent := 0
		_, err := n.Do(t.Context(), func(ctx context.Context) (*sharednode.Snapshot, error) {
			if sent++; sent == 1 {
				return nil, framework.ErrSessionLost
			}
			return n.Read(ctx)
		}, nil)
		require.NoError(t, err)
		require.Equal(t, 2, sent)
	})
}

// Another client writes after a request that is lost. The request is not made again
// over that, not even in the retry loop of a caller.
func TestLostSetIsNotMadeAgainInARetryLoop(t *testing.T) {
	onNode(t, func(t *testing.T, srv *zktest.Server, n sharednode.Node) {
		base, err := n.Read(t.Context())
		require.NoError(t, err)
		srv.Inject(zktest.Rule{Op: zktest.OpMulti, Path: "/n", Do: zktest.All(zktest.DropRequest(),
			zktest.Call(func(zktest.Request) { require.NoError(t, srv.Set("/n", []byte("theirs"))) }))})
		unsent := func(err error) bool { return !errors.Is(err, framework.ErrOutcomeUnknown) }
		err = retry.Do(t.Context(), retry.Exponential(time.Second, time.Second, 3), unsent, func(ctx context.Context) error {
			_, err := n.Set(ctx, base, []byte("new"))
			return err
		})
		require.ErrorIs(t, err, framework.ErrOutcomeUnknown)
		node, _ := srv.Node("/n")
		require.Equal(t, "theirs", string(node.Data))
	})
}
