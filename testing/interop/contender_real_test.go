//go:build real

package interop_test

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// contender competes for locks in one of the languages, for one lock at a time.
type contender interface {
	// acquire waits for at most wait. If it does not get the lock in that time,
	// it returns errTimeout or an error that matches context.DeadlineExceeded.
	acquire(path string, wait time.Duration) (grant, error)

	// cycle acquires, enters and leaves the checker, and releases, for the time
	// d.
	cycle(path string, c *lockChecker, weight int, d time.Duration) error

	// withKind returns the same contender for a lock of this kind. Without a
	// kind, a contender wants a mutex.
	withKind(kind) contender
}

// kind is the kind of a lock, as java/Peer.java names it.
type kind string

const (
	mutex          kind = "mutex"
	revocable      kind = "revocable"
	reading        kind = "read"
	writing        kind = "write"
	semaphoreMutex kind = "semaphore-mutex"
	// sharedLease is one lease of a semaphore. The limit is stored at limitOf
	// the path.
	sharedLease kind = "lease-shared"
	multi       kind = "multi" // this mutex and another; only in Go
)

func limitOf(path string) string { return path + "-limit" }

// leases is n leases of a semaphore, taken at once.
func leases(n, limit int) kind { return kind(fmt.Sprintf("lease-%d-%d", limit, n)) }

// leases parses a semaphore's kind. Other kinds have no leases.
func (k kind) leases() (n, limit int) {
	fmt.Sscanf(string(k), "lease-%d-%d", &limit, &n)
	return n, limit
}

// nodes returns the path that has the nodes of a lock's holders.
func (k kind) nodes(path string) string {
	if k == semaphoreMutex || strings.HasPrefix(string(k), "lease-") {
		return path + "/leases"
	}
	return path
}

// grant is a lock that a contender holds.
type grant struct {
	node    string // the path of the holder's node
	token   int64  // the node's czxid
	release func() error
	holder  contender // the contender that acquires under this grant
}

// goContender is one of our clients. Each acquire competes on its own, unless
// it is under a lease.
type goContender struct {
	client *framework.Client
	kind   kind
	under  *locks.Lease // may be nil
}

func (c goContender) withKind(k kind) contender { return goContender{c.client, k, c.under} }

func (c goContender) acquire(path string, wait time.Duration) (grant, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if c.under != nil {
		under, done := c.under.WithContext(ctx)
		defer done()
		ctx = under
	}
	lease, release, err := c.lease(ctx, path)
	if err != nil {
		return grant{}, err
	}
	return grant{
		lease.Path(), lease.FencingToken(),
		func() error { return release(context.Background()) },
		goContender{c.client, c.kind, lease},
	}, nil
}

func (c goContender) lease(
	ctx context.Context, path string,
) (lease *locks.Lease, release func(context.Context) error, err error) {
	if c.kind == multi {
		paths := []string{path, path + "-too"}
		both, err := locks.NewInterProcessMultiLock(locks.SortedMutexes(c.client, paths)...).Acquire(ctx)
		if err != nil {
			return nil, nil, err
		}
		return both.Leases()[0], both.Release, nil
	}
	lease, err = c.lock(path)(ctx)
	if err != nil {
		return nil, nil, err
	}
	return lease, lease.Release, nil
}

// lock returns the acquire method of a lock of the contender's kind.
func (c goContender) lock(path string) func(context.Context) (*locks.Lease, error) {
	switch c.kind {
	case reading:
		return locks.NewInterProcessReadWriteLock(c.client, path).ReadLock().Acquire
	case writing:
		return locks.NewInterProcessReadWriteLock(c.client, path).WriteLock().Acquire
	case semaphoreMutex:
		return locks.NewInterProcessSemaphoreMutex(c.client, path).Acquire
	case sharedLease:
		return locks.NewInterProcessSemaphore(c.client, path, locks.SharedLimit(limitOf(path), 1)).Acquire
	case revocable:
		return locks.NewInterProcessMutex(c.client, path, locks.WithRevocation()).Acquire
	}
	n, limit := c.kind.leases()
	if n == 0 {
		return locks.NewInterProcessMutex(c.client, path).Acquire
	}
	semaphore := locks.NewInterProcessSemaphore(c.client, path, locks.Limit(limit))
	return func(ctx context.Context) (*locks.Lease, error) { return semaphore.AcquireN(ctx, n) }
}

// participants returns the participants of a mutex, of a read/write lock or of
// a semaphore.
func (c goContender) participants(ctx context.Context, path string, k kind) ([]locks.Participant, error) {
	switch k {
	case mutex:
		return locks.NewInterProcessMutex(c.client, path).Participants(ctx)
	case writing:
		return locks.NewInterProcessReadWriteLock(c.client, path).Participants(ctx)
	default:
		_, limit := k.leases()
		return locks.NewInterProcessSemaphore(c.client, path, locks.Limit(limit)).Participants(ctx)
	}
}

// javaContender is a thread of a Java process.
type javaContender struct {
	peer *peer
	name string
	kind kind
}

func (c javaContender) withKind(k kind) contender { return javaContender{c.peer, c.name, k} }

func (c javaContender) acquire(path string, wait time.Duration) (grant, error) {
	words, err := c.peer.ask(context.Background(),
		"acquire", c.name, path, wait.Milliseconds(), cmp.Or(c.kind, mutex))
	if err != nil {
		return grant{}, err
	}
	if len(words) != 2 {
		return grant{}, fmt.Errorf("java: acquire: unexpected answer %q", words)
	}
	token, err := strconv.ParseInt(words[1], 10, 64)
	return grant{words[0], token, func() error {
		_, err := c.peer.ask(context.Background(), "release", c.name, words[0])
		return err
	}, c}, err
}

// sibling returns another contender of the same process.
func sibling(c contender) contender {
	if java, ok := c.(javaContender); ok {
		java.name += "-colleague"
		return java
	}
	return c
}

// language is the language of a role. A scenario that is alike for both
// languages is written once.
type language string

const (
	inGo   language = "Go"
	inJava language = "Java"
)

// contender returns a contender in its own client or process.
func (srv *testServer) contender(t *testing.T, l language) contender {
	t.Helper()
	if l == inGo {
		return goContender{client: srv.connect(t, longSession)}
	}
	return javaContender{peer: startPeer(t, srv.addr, longSession), name: "thread"}
}

// bothWays runs a scenario of two roles on both servers, first with the roles
// in Go and Java, then the other way around.
func bothWays(t *testing.T, scenario func(t *testing.T, srv *testServer, one, two language)) {
	t.Helper()
	t.Parallel()
	for _, l := range [][2]language{{inGo, inJava}, {inJava, inGo}} {
		t.Run(fmt.Sprintf("%s,%s", l[0], l[1]), func(t *testing.T) {
			onFakeAndReal(t, func(t *testing.T, srv *testServer) { scenario(t, srv, l[0], l[1]) })
		})
	}
}

// acquire returns a lock, or fails the test.
func acquire(t *testing.T, c contender, path string) grant {
	t.Helper()
	g, err := c.acquire(path, waitLimit)
	require.NoError(t, err)
	return g
}

// pending is an acquire under way.
type pending struct {
	grant grant
	err   error
	done  chan struct{}
}

func acquireLater(c contender, path string, wait time.Duration) *pending {
	p := &pending{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.grant, p.err = c.acquire(path, wait)
	}()
	return p
}

func (p *pending) wait(t *testing.T) grant {
	t.Helper()
	<-p.done
	require.NoError(t, p.err)
	return p.grant
}

func (p *pending) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
