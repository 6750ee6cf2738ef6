package cache_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// Some nodes are written all the time, so that none of them rests for as long
// as a request takes. The cache takes steps nevertheless, and shows each change
// of another node in the time of a few requests.
func TestHotNodesDoNotHoldUpTheCache(t *testing.T) {
	for _, version := range []string{"3.9", "3.8"} {
		for _, roundTrip := range []time.Duration{time.Millisecond, 20 * time.Millisecond} {
			for _, hot := range []int{1, 3} {
				t.Run(fmt.Sprint(version, " ", roundTrip, " ", hot), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						h := newHotTree(t, servers[version](t), roundTrip, hot)
						h.change(2 * time.Second)
						h.check(8 * roundTrip)
					})
				})
			}
		}
	}
}

// hotTree is a tree in which some nodes are written every 100 microseconds, and
// the others by turns.
type hotTree struct {
	*testing.T
	srv    *zktest.Server
	cache  *cache.Cache
	hot    int
	reader sync.WaitGroup
	stop   context.CancelFunc

	// Only the reader uses them before it has stopped.
	steps  map[int64]struct{}
	behind time.Duration
}

const coldNodes = 100

func newHotTree(t *testing.T, srv *zktest.Server, roundTrip time.Duration, hot int) *hotTree {
	h := &hotTree{T: t, srv: srv, hot: hot, steps: map[int64]struct{}{}}
	create(t, srv, "/r")
	for i := range hot {
		create(t, srv, fmt.Sprint("/r/hot", i))
	}
	for i := range coldNodes {
		create(t, srv, fmt.Sprint("/r/", i))
	}
	client := connect(t, srv, framework.WithDialer(distant(srv, roundTrip)))
	h.cache = open(t, client, "/r")
	ctx, stop := context.WithCancel(t.Context())
	h.stop = stop
	h.reader.Go(func() { h.read(ctx) })
	return h
}

// read notes how long each change took to be told.
func (h *hotTree) read(ctx context.Context) {
	for ch := range h.cache.Changes(ctx) {
		if ch.Type != cache.Changed {
			continue
		}
		h.steps[ch.Zxid] = struct{}{}
		written, err := strconv.ParseInt(string(ch.New.Data), 10, 64)
		if err != nil {
			h.Error(err)
		}
		h.behind = max(h.behind, time.Since(time.Unix(0, written)))
	}
}

func (h *hotTree) write(path string) {
	require.NoError(h, h.srv.Set(path, strconv.AppendInt(nil, time.Now().UnixNano(), 10)))
}

func (h *hotTree) change(d time.Duration) {
	const every, coldEvery = 100 * time.Microsecond, 70
	for i := range int(d / every) {
		h.write(fmt.Sprint("/r/hot", i%h.hot))
		if i%coldEvery == 0 {
			h.write(fmt.Sprint("/r/", i/coldEvery%coldNodes))
		}
		time.Sleep(every)
	}
}

// check requires that the reader was never behind by more than a time, and that
// the cache has everything in the end.
func (h *hotTree) check(atMost time.Duration) {
	require.NoError(h, h.cache.WaitFor(within(h.T), h.srv.Zxid()))
	synctest.Wait()
	h.stop()
	h.reader.Wait()
	h.Logf("%d steps, at most %v behind", len(h.steps), h.behind)
	require.NotZero(h, len(h.steps))
	require.LessOrEqual(h, h.behind, atMost)
}
