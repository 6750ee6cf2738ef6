package framework_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// The properties of a client under every kind of trouble at once:
//
//  1. every operation returns, and not later than its context;
//  2. no write is applied twice: the counter is at least what was confirmed,
//     and at most that and the unknown ones;
//  3. no protected node is left that nobody was given;
//  4. every node that was given away belongs to the session that it says it
//     does;
//  5. no watch is left, on the server or in the library.
//
// The end of the bubble adds that no goroutine is left.
func TestPropertiesHoldUnderRandomTrouble(t *testing.T) {
	t.Parallel()
	for seed := range uint64(thorough.Size(4, 1)) {
		serverOnly(t, func(t *testing.T, srv *zktest.Server) {
			c := newClient(t, srv, framework.WithConnectionTimeout(5*time.Second))
			mustCreate(t, c, "/p", "")
			mustCreate(t, c, "/counter", "0")
			w := &workers{t: t, srv: srv, c: c}
			stop := time.Now().Add(5 * time.Minute)
			var all sync.WaitGroup
			for i := range uint64(8) {
				all.Go(func() {
					rnd := rand.New(rand.NewPCG(seed, i))
					for time.Now().Before(stop) {
						w.step(rnd)
					}
				})
			}
			disturb(srv, c, rand.New(rand.NewPCG(seed, 99)), stop)
			all.Wait()
			time.Sleep(3 * time.Minute) // for the clean-up

			require.True(t, c.State().IsConnected())
			require.Empty(t, srv.Children("/p"), "seed %d", seed)
			require.Empty(t, srv.Watches())
			node, _ := srv.Node("/counter")
			require.GreaterOrEqual(t, int64(node.Stat.Version), w.confirmed.Load(), "seed %d", seed)
			require.LessOrEqual(t, int64(node.Stat.Version), w.confirmed.Load()+w.unknown.Load(), "seed %d", seed)
			require.Positive(t, w.confirmed.Load())
			require.Regexp(t, fmt.Sprintf("^%d( |$)", node.Stat.Version), string(node.Data), "each write counted one further")
			srv.ClearRequests()
			srv.CutAll()
			time.Sleep(10 * time.Second)
			require.Zero(t, srv.CountRequests(zkinside.OpSetWatches), "the library has no watch left either")
		})
	}
}

type workers struct {
	t                  *testing.T
	srv                *zktest.Server
	c                  *framework.Client
	confirmed, unknown atomic.Int64
}

func (w *workers) step(rnd *rand.Rand) {
	d := time.Duration(1+rnd.IntN(8000)) * time.Millisecond
	ctx, cancel := context.WithTimeout(w.t.Context(), d)
	defer cancel()
	begin := time.Now()
	switch rnd.IntN(4) {
	case 0:
		w.node(ctx)
	case 1:
		w.count(ctx)
	case 2:
		w.watch(ctx, rnd)
	default:
		w.c.Children(ctx, "/p")
	}
	require.LessOrEqual(w.t, time.Since(begin), d)
	time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond)
}

func (w *workers) node(ctx context.Context) {
	n, err := w.c.Create(ctx, "/p/n-", nil, protectedSeq()...)
	if err != nil {
		return
	}
	if node, ok := w.srv.Node(n.Path); ok {
		require.Equal(w.t, n.Session.ID(), node.Stat.EphemeralOwner)
		require.Equal(w.t, node.Stat.Czxid, n.Czxid)
	} else {
		require.False(w.t, w.alive(n.Session), "a node is missing whose session is alive")
	}
	w.c.Delete(ctx, n.Path, framework.AnyVersion, framework.WithGuarantee())
}

// alive reports whether the server has a session.
func (w *workers) alive(s *framework.Session) bool {
	for _, sess := range w.srv.Sessions() {
		if sess.ID == s.ID() {
			return true
		}
	}
	return false
}

func (w *workers) count(ctx context.Context) {
	data, stat, err := w.c.Get(ctx, "/counter")
	if err != nil {
		return
	}
	var n int
	_, err = fmt.Sscan(string(data), &n)
	require.NoError(w.t, err)
	next := fmt.Sprint(n+1, " ", rand.Int64())
	switch _, err = w.c.Set(ctx, "/counter", []byte(next), stat.Version); {
	case err == nil:
		w.confirmed.Add(1)
	case errors.Is(err, framework.ErrOutcomeUnknown):
		w.unknown.Add(1)
	}
}

func (w *workers) watch(ctx context.Context, rnd *rand.Rand) {
	for _, set := range watchKinds(w.c) {
		watch, err := set(ctx, "/counter")
		if err != nil {
			return
		}
		if rnd.IntN(2) == 0 {
			watch.Wait(ctx)
		}
		if rnd.IntN(2) == 0 {
			watch.Stop() // else the context does
		}
	}
}

// disturb makes trouble for a client until the time has come, and leaves everything in
// order.
func disturb(srv *zktest.Server, c *framework.Client, rnd *rand.Rand, until time.Time) {
	for time.Now().Before(until) {
		time.Sleep(time.Duration(rnd.IntN(6000)) * time.Millisecond)
		switch rnd.IntN(9) {
		case 0:
			srv.CutAll()
		case 1:
			srv.Session(c.SessionID()).Expire()
		case 2:
			zkinside.Of(srv).ReplaceSession(c.SessionID())
			srv.CutAll()
		case 3:
			srv.Session(c.SessionID()).Blackhole()
		case 4:
			outage(srv, time.Duration(rnd.IntN(14000))*time.Millisecond)
		case 5:
			srv.BlackholeAll()
			time.Sleep(time.Duration(rnd.IntN(14000)) * time.Millisecond)
			srv.Heal()
		case 6:
			srv.Inject(zktest.Rule{Optional: true, After: rnd.IntN(5), Do: zktest.DropReply()})
		case 7:
			srv.Inject(zktest.Rule{Optional: true, After: rnd.IntN(5), Do: zktest.DropRequest()})
		default:
			srv.Inject(zktest.Rule{Optional: true, After: rnd.IntN(5), Times: 3, Do: zktest.DelayReply(time.Duration(rnd.IntN(3000)) * time.Millisecond)})
		}
	}
	srv.Heal()
}
