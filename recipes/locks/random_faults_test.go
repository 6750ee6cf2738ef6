package locks_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/state"
)

// inside counts the clients that believe they hold a lock, and keeps the
// largest values seen.
type inside struct {
	mu             sync.Mutex
	readers        int
	writers        int
	leases         int
	most, together int
	token          int64 // the largest that a writer has shown
	readersToken   int64 // the largest that a reader has shown
}

func (in *inside) add(readers, writers, leases int) inside {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.readers += readers
	in.writers += writers
	in.leases += leases
	in.most, in.together = max(in.most, in.leases), max(in.together, in.readers)
	return inside{readers: in.readers, writers: in.writers, leases: in.leases}
}

// write notes a writer's token. It reports whether the token is larger than
// every token before it.
func (in *inside) write(token int64) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	grows := token > in.token && token > in.readersToken
	in.token = max(in.token, token)
	return grows
}

// read notes a reader's token. It reports whether a resource would accept the
// token after the largest one that a writer has shown.
func (in *inside) read(token int64) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.readersToken = max(in.readersToken, token)
	return token >= in.token
}

// troubledTime is how long tests of random faults disturb their clients.
func troubledTime() time.Duration {
	return thorough.Size(time.Hour, time.Hour/10)
}

// inTroubledTime returns what has to happen in troubledTime if perHour does in
// an hour.
func inTroubledTime(perHour int32) int32 {
	return int32(time.Duration(perHour) * troubledTime() / time.Hour)
}

// underRandomFaults runs a worker for each of n clients for troubledTime.
// Meanwhile it cuts their connections and sessions.
func underRandomFaults(t *testing.T, n int, work func(ctx context.Context, i, round int, c *framework.Client), check func(t *testing.T, w *world)) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithTimeout(t.Context(), troubledTime())
		defer cancel()
		networks := make([]*recipetest.Network, n)
		var all sync.WaitGroup
		for i := range networks {
			var c *framework.Client
			c, networks[i] = w.Connect(t)
			all.Go(func() {
				for round := 0; ctx.Err() == nil; round++ {
					work(ctx, i, round, c)
				}
			})
		}
		disturb(ctx, t, networks)
		all.Wait()
		check(t, w)
	})
}

// stay keeps a lease for up to three seconds, or until it is lost, and the work
// has stopped. That takes less than the safety margin.
func stay(l *locks.Lease, round int) {
	select {
	case <-l.Context().Done():
		time.Sleep(time.Duration(round%9) * 100 * time.Millisecond)
	case <-time.After(time.Duration(round%7) * 500 * time.Millisecond):
	}
}

// Faults hit the clients at random. A writer is alone. A writer's token is
// larger than every token before it, and no reader's token is smaller than the
// last writer's. Some writers become readers, and some waiters give up.
func TestReadersAndWritersUnderRandomFaults(t *testing.T) {
	t.Parallel()
	var in inside
	var writes, downgrades atomic.Int32
	read := func(ctx context.Context, l *locks.Lease, round int) {
		if now := in.add(1, 0, 0); now.writers != 0 {
			t.Error("a reader is beside a writer")
		}
		if !in.read(l.FencingToken()) {
			t.Error("a reader's token is smaller than that of a writer before it")
		}
		stay(l, round)
		in.add(-1, 0, 0)
		l.Release(ctx)
	}
	write := func(ctx context.Context, rw *locks.InterProcessReadWriteLock, l *locks.Lease, round int) {
		if now := in.add(0, 1, 0); now.writers != 1 || now.readers != 0 {
			t.Error("a writer is not alone")
		}
		if !in.write(l.FencingToken()) {
			t.Error("token does not grow")
		}
		writes.Add(1)
		stay(l, round)
		var reader *locks.Lease
		if round%2 == 0 {
			under, done := l.WithContext(ctx)
			reader, _ = rw.ReadLock().Acquire(under)
			done()
		}
		in.add(0, -1, 0)
		if reader == nil {
			l.Release(ctx)
			return
		}
		downgrades.Add(1)
		released := make(chan struct{})
		go func() { // the release may outlast the reader's session
			defer close(released)
			l.Release(ctx)
		}()
		read(ctx, reader, round)
		<-released
	}
	underRandomFaults(t, 5, func(ctx context.Context, i, round int, c *framework.Client) {
		rw := locks.NewInterProcessReadWriteLock(c, "/l")
		limited, cancel := context.WithTimeout(ctx, time.Duration(1+round%20)*time.Second)
		defer cancel()
		if (i+round)%3 != 0 {
			if l, err := rw.ReadLock().Acquire(limited); err == nil {
				read(ctx, l, round)
			}
			return
		}
		if l, err := rw.WriteLock().Acquire(limited); err == nil {
			write(ctx, rw, l, round)
		}
	}, func(t *testing.T, w *world) { w.NothingLeft(t, "/l") })
	t.Log(writes.Load(), "writes", downgrades.Load(), "downgrades", in.together, "readers at once")
	require.Greater(t, writes.Load(), inTroubledTime(100))
	require.Greater(t, downgrades.Load(), inTroubledTime(20))
	require.Greater(t, in.together, 1)
}

// Faults hit the clients at random. There are never more leases than the
// limit, even when a client takes several of them, and the semaphore does not
// get stuck.
func TestSemaphoreUnderRandomFaults(t *testing.T) {
	t.Parallel()
	shared := func(n int) locks.SemaphoreLimit { return locks.SharedLimit("/limit", n) }
	for name, tc := range map[string]struct {
		limit func(int) locks.SemaphoreLimit
		kept  bool // each client has one object, which knows whether the gate was free
	}{
		"fixed": {locks.Limit, false}, "shared": {shared, false}, "fixed, one object": {locks.Limit, true},
	} {
		t.Run(name, func(t *testing.T) {
			const most = 3
			var in inside
			var grants atomic.Int32
			var kept [5]*locks.InterProcessSemaphore
			underRandomFaults(t, len(kept), func(ctx context.Context, i, round int, c *framework.Client) {
				n := 1 + (i+round)%most
				limited, cancel := context.WithTimeout(ctx, time.Duration(1+round%20)*time.Second)
				defer cancel()
				if kept[i] == nil || !tc.kept {
					kept[i] = locks.NewInterProcessSemaphore(c, "/l", tc.limit(most))
				}
				l, err := kept[i].AcquireN(limited, n)
				if err != nil {
					return
				}
				if now := in.add(0, 0, n); now.leases > most {
					t.Error("too many leases: ", now.leases)
				}
				grants.Add(1)
				stay(l, round)
				in.add(0, 0, -n)
				l.Release(ctx)
			}, func(t *testing.T, w *world) {
				w.WaitNodes(t, "/l/locks", 0)
				w.NothingLeft(t, "/l/leases")
			})
			t.Log(grants.Load(), "grants")
			require.Greater(t, grants.Load(), inTroubledTime(300))
			require.Equal(t, most, in.most)
		})
	}
}

// Faults hit the clients at random, and some of each client's goroutines give
// up. A lock that is handed over in the process has one holder alone, and no
// node is left in the queue.
func TestLocalHandOverUnderRandomFaults(t *testing.T) {
	passedOnUnderRandomFaults(t, 100, 4, func(int) time.Duration { return 0 }, handingOver(3, 5*time.Second))
}

// So it is with a lock that is cached, which each client takes several times
// before it rests for a while.
func TestCachedLockUnderRandomFaults(t *testing.T) {
	rest := func(round int) time.Duration {
		if round%7 == 0 {
			return time.Duration(10+round%32) * time.Second
		}
		return 0
	}
	passedOnUnderRandomFaults(t, 20, 1, rest, idleFor(10, 10*time.Second))
}

// passedOnUnderRandomFaults asks for at least so many turns in an hour that came
// without another node. Each client has that many goroutines.
func passedOnUnderRandomFaults(
	t *testing.T, perHour int32, goroutines int, rest func(round int) time.Duration, opts ...locks.MutexOption,
) {
	t.Parallel()
	for _, policy := range []state.ErrorPolicy{state.SessionPolicy, state.StandardPolicy} {
		t.Run(policy.String(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, cancel := context.WithTimeout(t.Context(), troubledTime())
				defer cancel()
				var in inside
				var handed atomic.Int32
				var all sync.WaitGroup
				networks := make([]*recipetest.Network, 3)
				mutexes := make([]*locks.InterProcessMutex, len(networks))
				for i := range networks {
					var c *framework.Client
					c, networks[i] = w.Connect(t, framework.WithErrorPolicy(policy))
					mutexes[i] = locks.NewInterProcessMutex(c, "/l", opts...)
					for j := range goroutines {
						all.Go(func() { contend(ctx, t, mutexes[i], j, rest, &in, &handed) })
					}
				}
				disturb(ctx, t, networks)
				all.Wait()
				w.NothingLeft(t, "/l")
				t.Log(handed.Load(), "handed over")
				require.Greater(t, handed.Load(), inTroubledTime(perHour))
				for _, m := range mutexes {
					require.NoError(t, locktest.Acquire(t, t.Context(), m).Release(t.Context()))
				}
				w.NothingLeft(t, "/l")
			})
		})
	}
}

// contend acquires a mutex until ctx ends, with short and long deadlines, and with
// rests. It counts the turns that came with the node of the turn before.
func contend(
	ctx context.Context, t *testing.T, m *locks.InterProcessMutex, round int, rest func(round int) time.Duration,
	in *inside, handed *atomic.Int32,
) {
	for ; ctx.Err() == nil; round++ {
		limited, cancel := context.WithTimeout(ctx, time.Duration(1+round%20)*time.Second)
		l, err := m.Acquire(limited)
		cancel()
		if err != nil {
			continue
		}
		if in.add(0, 1, 0).writers != 1 {
			t.Error("two holders")
		}
		if !in.write(l.FencingToken()) {
			handed.Add(1)
			if in.token != l.FencingToken() {
				t.Error("token falls")
			}
		}
		stay(l, round)
		in.add(0, -1, 0)
		l.Release(ctx)
		time.Sleep(rest(round))
	}
}

// disturb cuts, isolates and expires the clients in turn until ctx ends.
func disturb(ctx context.Context, t *testing.T, networks []*recipetest.Network) {
	for i := 0; ctx.Err() == nil; i++ {
		network := networks[i%len(networks)]
		switch i % 4 {
		case 0, 1:
			network.Cut()
		case 2:
			heal := network.Isolate()
			<-time.After(time.Duration(i%13) * time.Second)
			heal()
		case 3:
			network.Refuse(true)
			network.Cut()
			<-time.After(time.Duration(i%17) * time.Second)
			network.Refuse(false)
		}
		select {
		case <-time.After(time.Duration(i%5) * 1100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// Three clients suffer random faults. No two are at work at once, although it
// goes on for a while after the end of its context. Tokens grow, and no node is
// left.
//
// Promise: At most one lease of a mutex has a live context.
func TestOneHolderUnderRandomFaults(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(t *testing.T, w *world) {
		path := recipetest.Path(t)
		ctx, cancel := context.WithTimeout(t.Context(), troubledTime())
		defer cancel()
		var holders, grants atomic.Int32
		var lastToken atomic.Int64
		done := make(chan struct{})
		networks := make([]*recipetest.Network, 3)
		for i := range networks {
			var c *framework.Client
			c, networks[i] = w.Connect(t)
			m := locks.NewInterProcessMutex(c, path)
			go func() {
				defer func() { done <- struct{}{} }()
				for ctx.Err() == nil {
					lease, err := m.Acquire(ctx)
					if err != nil {
						continue
					}
					if holders.Add(1) != 1 {
						t.Error("two holders")
					}
					if token := lease.FencingToken(); lastToken.Swap(token) >= token {
						t.Error("token does not grow")
					}
					grants.Add(1)
					stay(lease, int(grants.Load()))
					holders.Add(-1)
					lease.Release(ctx)
				}
			}()
		}
		disturb(ctx, t, networks)
		for range networks {
			<-done
		}
		require.Greater(t, grants.Load(), inTroubledTime(500))
		w.NothingLeft(t, path)
	})
}

// Goroutines of three clients read by shared nodes, and some write. Their
// connections and sessions break. A writer is alone.
func TestReadersThatShareANodeUnderRandomFaults(t *testing.T) {
	t.Parallel()
	for _, policy := range []state.ErrorPolicy{state.SessionPolicy, state.StandardPolicy} {
		t.Run(policy.String(), func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, w *world) {
				ctx, cancel := context.WithTimeout(t.Context(), troubledTime())
				defer cancel()
				var in inside
				var writes atomic.Int32
				var joined joinedReads
				var all sync.WaitGroup
				networks := make([]*recipetest.Network, 3)
				for i := range networks {
					var c *framework.Client
					c, networks[i] = w.Connect(t, framework.WithErrorPolicy(policy))
					rw := locks.NewInterProcessReadWriteLock(c, "/l", idleFor(10, 10*time.Second))
					for j := range 4 {
						all.Go(func() {
							for round := j; ctx.Err() == nil; round++ {
								if (round+i)%8 == 0 {
									writeOnce(ctx, t, rw, round, &in, &writes)
								} else {
									readOnce(ctx, t, rw, round, &in, &joined)
								}
							}
						})
					}
				}
				disturb(ctx, t, networks)
				all.Wait()
				w.NothingLeft(t, "/l")
				t.Log(writes.Load(), "writes,", joined.n, "reads joined")
				require.Greater(t, writes.Load(), inTroubledTime(20))
				require.Greater(t, joined.n, inTroubledTime(20))
			})
		})
	}
}

// joinedReads counts reads by a node that one has read by before.
type joinedReads struct {
	mu   sync.Mutex
	seen map[string]bool
	n    int32
}

func (j *joinedReads) add(node string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.seen == nil {
		j.seen = map[string]bool{}
	}
	if j.seen[node] {
		j.n++
	}
	j.seen[node] = true
}

func readOnce(ctx context.Context, t *testing.T, rw *locks.InterProcessReadWriteLock, round int, in *inside, joined *joinedReads) {
	limited, cancel := context.WithTimeout(ctx, time.Duration(1+round%20)*time.Second)
	defer cancel()
	acquire := rw.ReadLock().Acquire
	if round%5 == 4 {
		acquire = rw.ReadLock().TryAcquire
	}
	l, err := acquire(limited)
	if err != nil {
		return
	}
	if in.add(1, 0, 0).writers != 0 {
		t.Error("a reader is beside a writer")
	}
	if !in.read(l.FencingToken()) {
		t.Error("a reader's token is smaller than that of a writer before it")
	}
	joined.add(l.Path())
	stay(l, round)
	in.add(-1, 0, 0)
	l.Release(ctx)
}

func writeOnce(ctx context.Context, t *testing.T, rw *locks.InterProcessReadWriteLock, round int, in *inside, writes *atomic.Int32) {
	limited, cancel := context.WithTimeout(ctx, time.Duration(1+round%20)*time.Second)
	defer cancel()
	l, err := rw.WriteLock().Acquire(limited)
	if err != nil {
		return
	}
	if now := in.add(0, 1, 0); now.writers != 1 || now.readers != 0 {
		t.Error("a writer is not alone")
	}
	if !in.write(l.FencingToken()) {
		t.Error("token does not grow")
	}
	writes.Add(1)
	stay(l, round)
	in.add(0, -1, 0)
	l.Release(ctx)
}
