package cache_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/testing/zktest"
)

// A busy client takes an answer to a multiRead late, after events of changes that are
// younger than the answer, with other answers in between. The answer does not have
// these changes, and the cache does not claim that it has.
//
// Promise: Changes that arrive before a reply is processed are not lost.
func TestChangesToldBeforeAnAnswerIsTakenAreNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBusyCache(t)
		ctx, stop := context.WithCancel(within(t))
		var reader sync.WaitGroup
		reader.Go(func() { b.follow(ctx) })
		for range 50 {
			for range 50 { // the node is read by multiRead then
				b.write()
				time.Sleep(b.roundTrip / 10)
			}
			b.busy.Store(true)
			for range 20 {
				b.write()
				if b.rng.IntN(3) == 0 {
					_, _, err := b.client.Exists(ctx, "/other")
					require.NoError(t, err)
				}
				time.Sleep(time.Duration(b.rng.IntN(int(b.roundTrip))))
			}
			time.Sleep(50 * b.roundTrip)
		}
		stop()
		reader.Wait()
		require.Greater(t, b.srv.CountRequests(zkinside.OpMultiRead), 50)
		b.check()
	})
}

// busyCache is a cache whose goroutine is held up now and then.
type busyCache struct {
	*testing.T
	srv       *zktest.Server
	client    *framework.Client
	cache     *cache.Cache
	roundTrip time.Duration
	rng       *rand.Rand
	busy      atomic.Bool // hold it up for once

	written []int64         // the transactions that were about the node
	seen    map[int64]int64 // the node's Mzxid, as of each step that has changed it
}

func newBusyCache(t *testing.T) *busyCache {
	b := &busyCache{
		T: t, srv: zktest.Start(t), roundTrip: time.Millisecond,
		rng: rand.New(rand.NewPCG(1, 1)), seen: map[int64]int64{},
	}
	create(t, b.srv, "/r", "/other", "/r/hot")
	b.written = []int64{b.srv.Stats().Zxid}
	b.client = connect(t, b.srv, framework.WithDialer(distant(t, b.srv.Dialer(), b.roundTrip)))
	b.cache = open(t, b.client, "/r", cache.WithFilter(func(string) bool {
		if b.busy.CompareAndSwap(true, false) {
			time.Sleep(20 * b.roundTrip)
		}
		return true
	}))
	return b
}

func (b *busyCache) write() {
	require.NoError(b, b.srv.Set("/r/hot", nil))
	b.written = append(b.written, b.srv.Stats().Zxid)
}

func (b *busyCache) follow(ctx context.Context) {
	for ch := range b.cache.Changes(ctx) {
		if ch.New.Path == "/r/hot" {
			b.seen[ch.Zxid] = ch.New.Stat.Mzxid
		}
	}
}

// check requires that each step has the newest change up to its transaction.
func (b *busyCache) check() {
	b.Logf("%d steps, %d changes", len(b.seen), len(b.written))
	require.NotEmpty(b, b.seen)
	for zxid, mzxid := range b.seen {
		after, _ := slices.BinarySearch(b.written, zxid+1)
		require.Equal(b, b.written[after-1], mzxid, "as of %d", zxid)
	}
}
