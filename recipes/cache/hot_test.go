package cache_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// Some nodes are written all the time, so that none of them rests for as long
// as a request takes. The cache takes steps nevertheless, and shows each change
// in the time of a few requests.
func TestHotNodesDoNotHoldUpTheCache(t *testing.T) {
	for name, hot := range map[string][]string{
		"one node":    {"/r/hot"},
		"three nodes": {"/r/hot0", "/r/hot1", "/r/hot2"},
		"the root":    {"/r"},
	} {
		onHotTree(t, name, func(h *hotTree, roundTrip time.Duration) {
			h.change(500*time.Millisecond, func(i int) { h.write(hot[i%len(hot)]) })
			h.check(5 * roundTrip)
		})
	}
}

// A node comes and goes all the time. It may be missing whenever it is read with
// others, and must be found to be in the way again then.
func TestNodeThatComesAndGoesDoesNotHoldUpTheCache(t *testing.T) {
	onHotTree(t, "", func(h *hotTree, roundTrip time.Duration) {
		h.change(500*time.Millisecond, func(i int) {
			if i%2 == 0 {
				require.NoError(h, h.srv.Create("/r/hot", h.now()))
			} else {
				require.NoError(h, h.srv.Delete("/r/hot"))
			}
		})
		h.check(8 * roundTrip)
	})
}

// onHotTree runs a test on a tree whose servers are near and far.
func onHotTree(
	t *testing.T, name string, test func(h *hotTree, roundTrip time.Duration), opts ...framework.Option,
) {
	for _, version := range thorough.Some(1, "3.9", "3.8") {
		for _, roundTrip := range thorough.Some(1, 20*time.Millisecond, time.Millisecond) {
			t.Run(fmt.Sprint(name, " ", version, " ", roundTrip), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { test(newHotTree(t, servers[version](t), roundTrip, opts...), roundTrip) })
			})
		}
	}
}

// hotTree is a tree in which something changes every 100 microseconds, and 100
// nodes are written by turns, more slowly.
type hotTree struct {
	*testing.T
	srv    *zktest.Server
	cache  *cache.Cache
	client *framework.Client
	reader sync.WaitGroup
	stop   context.CancelFunc

	// Only the reader uses them before it has stopped.
	steps  map[int64]struct{}
	behind time.Duration
}

func newHotTree(t *testing.T, srv *zktest.Server, roundTrip time.Duration, opts ...framework.Option) *hotTree {
	h := &hotTree{T: t, srv: srv, steps: map[int64]struct{}{}}
	create(t, srv, "/r", "/r/hot0", "/r/hot1", "/r/hot2")
	for i := range coldNodes {
		create(t, srv, fmt.Sprint("/r/", i))
	}
	h.client = connect(t, srv, append(opts, framework.WithDialer(distant(t, srv.Dialer(), roundTrip)))...)
	h.cache = open(t, h.client, "/r")
	ctx, stop := context.WithCancel(t.Context())
	h.stop = stop
	h.reader.Go(func() { h.read(ctx) })
	return h
}

const coldNodes = 100

// read notes how long each change took to be told.
func (h *hotTree) read(ctx context.Context) {
	for ch := range h.cache.Changes(ctx) {
		written, err := strconv.ParseInt(string(ch.New.Data), 10, 64)
		if err != nil {
			continue // it was there in the beginning, or it is gone
		}
		h.steps[ch.Zxid] = struct{}{}
		h.behind = max(h.behind, time.Since(time.Unix(0, written)))
	}
}

func (h *hotTree) now() []byte { return strconv.AppendInt(nil, time.Now().UnixNano(), 10) }

func (h *hotTree) write(path string) {
	if _, there := h.srv.Node(path); !there {
		require.NoError(h, h.srv.Create(path, nil))
	}
	require.NoError(h, h.srv.Set(path, h.now()))
}

func (h *hotTree) change(d time.Duration, hot func(i int)) {
	const every, coldEvery = 100 * time.Microsecond, 70
	for i := range int(d / every) {
		hot(i)
		if i%coldEvery == 0 {
			h.write(fmt.Sprint("/r/", i/coldEvery%coldNodes))
		}
		time.Sleep(every)
	}
}

// changeAll writes the 100 nodes by turns, so fast that all of them are hot.
func (h *hotTree) changeAll(d time.Duration) {
	for i := range int(d / (2 * time.Millisecond)) {
		for j := range 20 {
			h.write(fmt.Sprint("/r/", (20*i+j)%coldNodes))
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// check requires that the reader was never behind by more than a time, and that
// the cache has everything in the end. It closes the client.
func (h *hotTree) check(atMost time.Duration) {
	h.Helper()
	require.NoError(h, h.cache.WaitFor(within(h.T), h.srv.Stats().Zxid))
	synctest.Wait()
	h.stop()
	h.reader.Wait()
	require.NoError(h, h.client.Close())
	h.Logf("%d steps, at most %v behind, %d requests", len(h.steps), h.behind, h.srv.CountRequests(zktest.OpAny))
	require.NotEmpty(h, h.steps)
	require.LessOrEqual(h, h.behind, atMost)
	for _, want := range h.srv.Tree() {
		if n, cached := h.cache.Get(want.Path); cached {
			require.Equal(h, want.Stat.Mzxid, n.Stat.Mzxid, want.Path)
		} else {
			require.False(h, strings.HasPrefix(want.Path, "/r"), want.Path)
		}
	}
}
