package certmagic_test

import (
	"context"
	"errors"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	certstore "github.com/gocurator/curator/contrib/certmagic"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// certmagic makes a new account when a Load matches fs.ErrNotExist, and goes on when
// a Delete returns nil. So neither may come of why the caller's context has ended:
// errgroup hands on the error of another call, such as that of a Load of another
// key. Each method is called with a context that ends while one of its requests is
// under way, with a cause that says nothing, and again with one that matches all
// by which somebody decides. What it returns, and what it leaves, is the same.
func TestCauseOfTheCallersContextIsNoAnswer(t *testing.T) {
	for name, c := range everyCall {
		for fault, do := range faultsOfOneRequest {
			if !thorough.Picked(6, name, fault) {
				continue
			}
			t.Run(name+"/"+fault, func(t *testing.T) {
				for request, more := 0, true; more; request++ {
					more = trial{c, request, do}.causesMakeNoDifference(t)
				}
			})
		}
	}
}

func TestCauseOfAContextThatHasEndedIsNoAnswer(t *testing.T) {
	for name, c := range everyCall {
		t.Run(name, func(t *testing.T) { trial{c, -1, zktest.Action{}}.causesMakeNoDifference(t) })
	}
}

// The calls above are of each method that takes a context.
func TestEveryCallIsTried(t *testing.T) {
	storage := reflect.TypeFor[*certstore.Storage]()
	for i := range storage.NumMethod() {
		if m := storage.Method(i); m.Type.NumIn() > 1 && m.Type.In(1) == reflect.TypeFor[context.Context]() {
			require.Contains(t, everyCall, m.Name)
		}
	}
}

// causesMakeNoDifference reports whether the call made as many requests.
func (x trial) causesMakeNoDifference(t *testing.T) (made bool) {
	t.Helper()
	usual := caused(errNothing)
	plain, made := x.run(t, usual)
	for name, end := range endings {
		told, _ := x.run(t, end)
		for again := 0; again < 20 && !reflect.DeepEqual(plain, told); again++ {
			plain, _ = x.run(t, usual) // goroutines of the client may race for what an error knows
		}
		require.Equal(t, plain, told, "%s, request %d", name, x.request)
	}
	return made
}

// The text says why the context has ended.
func TestCauseOfTheCallersContextIsTold(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, a, b *process) {
		require.NoError(t, b.Lock(bounded(t), certLock))
		told := 0
		for name, c := range everyCall {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errNothing)
			if _, err := c.call(ctx, a.Storage); errors.Is(err, context.Canceled) {
				require.ErrorContains(t, err, errNothing.Error(), name)
				told++
			}
		}
		require.Greater(t, told, 15)
	})
}

// method is one of a Storage, and what has been done before. There are keys
// with certKey among them.
type method struct {
	before func(t *testing.T, srv *zktest.Server, s *certstore.Storage)
	call   func(ctx context.Context, s *certstore.Storage) (answer any, err error)
}

// everyCall has each method that takes a context.
var everyCall = map[string]method{
	"Load":                             {call: func(ctx context.Context, s *certstore.Storage) (any, error) { return s.Load(ctx, certKey) }},
	"Load, missing":                    {call: func(ctx context.Context, s *certstore.Storage) (any, error) { return s.Load(ctx, "none") }},
	"Exists":                           {call: func(ctx context.Context, s *certstore.Storage) (any, error) { return s.Exists(ctx, certKey), nil }},
	"Stat":                             {call: func(ctx context.Context, s *certstore.Storage) (any, error) { return s.Stat(ctx, certKey) }},
	"List":                             {call: func(ctx context.Context, s *certstore.Storage) (any, error) { return s.List(ctx, "", false) }},
	"List, recursive":                  {call: func(ctx context.Context, s *certstore.Storage) (any, error) { return s.List(ctx, "", true) }},
	"Store":                            {call: storing(certKey)},
	"Store, new":                       {call: storing("folder/key")},
	"Store, guarded":                   {withLock, storing(certKey)},
	"Store, new and guarded":           {withLock, storing("new/test/example.com")},
	"Store, lost":                      {withLostLock, storing(certKey)},
	"Delete":                           {call: deleting(certKey)},
	"Delete, tree":                     {call: deleting("certificates")},
	"Delete, missing":                  {call: deleting("none")},
	"Delete, guarded":                  {withLock, deleting("certificates")},
	"Delete, lost":                     {withLostLock, deleting(certKey)},
	"Lock":                             {call: locking},
	"Lock, held by another goroutine":  {withLock, locking},
	"Lock, held by another process":    {withRival, locking},
	"TryLock":                          {call: tryLocking},
	"TryLock, held by another process": {withRival, tryLocking},
	"Unlock":                           {withLock, unlocking},
	"Unlock, lost":                     {withLostLock, unlocking},
	"RenewLockLease":                   {withLock, renewing},
	"RenewLockLease, lost": {
		func(t *testing.T, srv *zktest.Server, s *certstore.Storage) {
			withLostLock(t, srv, s)
			time.Sleep(5 * time.Second) // until it is known
		}, renewing,
	},
}

func storing(key string) func(context.Context, *certstore.Storage) (any, error) {
	return func(ctx context.Context, s *certstore.Storage) (any, error) {
		return nil, s.Store(ctx, key, []byte("new"))
	}
}

func deleting(key string) func(context.Context, *certstore.Storage) (any, error) {
	return func(ctx context.Context, s *certstore.Storage) (any, error) { return nil, s.Delete(ctx, key) }
}

func locking(ctx context.Context, s *certstore.Storage) (any, error) {
	return nil, s.Lock(ctx, certLock)
}

func tryLocking(ctx context.Context, s *certstore.Storage) (any, error) {
	return s.TryLock(ctx, certLock)
}

func unlocking(ctx context.Context, s *certstore.Storage) (any, error) {
	return nil, s.Unlock(ctx, certLock)
}

func renewing(ctx context.Context, s *certstore.Storage) (any, error) {
	return nil, s.RenewLockLease(ctx, certLock, time.Hour)
}

func withLock(t *testing.T, _ *zktest.Server, s *certstore.Storage) {
	t.Helper()
	require.NoError(t, s.Lock(bounded(t), certLock))
}

func withLostLock(t *testing.T, srv *zktest.Server, s *certstore.Storage) {
	t.Helper()
	withLock(t, srv, s)
	loseLock(t, srv, certLock)
}

func withRival(t *testing.T, srv *zktest.Server, _ *certstore.Storage) {
	t.Helper()
	withLock(t, srv, start(t, srv).Storage)
}

var faultsOfOneRequest = map[string]zktest.Action{
	"answered late":  zktest.DelayReply(time.Second),
	"processed late": zktest.DelayRequest(time.Second),
	"reply lost":     zktest.DropReply(),
}

// ending is how a context ends: with a cause, or in the words of the user's own
// type.
type ending struct {
	cause error
	as    func(context.Context) context.Context
}

func caused(cause error) ending {
	return ending{cause, func(ctx context.Context) context.Context { return ctx }}
}

var (
	errNothing = errors.New("nothing")

	endings = map[string]ending{
		"caused by all":    caused(errAll),
		"in its own words": {errNothing, func(ctx context.Context) context.Context { return ownContext{ctx} }},
	}
)

// ownContext is of the user's own making.
type ownContext struct{ context.Context }

func (c ownContext) Err() error {
	if c.Context.Err() == nil {
		return nil
	}
	return errOwn
}

// sentinels are the errors by which the Storage decides, and those who use it.
var sentinels = []error{
	fs.ErrNotExist, certstore.ErrLockLost,
	zk.ErrNoNode, zk.ErrNodeExists, zk.ErrNotEmpty, zk.ErrBadVersion, zk.ErrNoAuth, zk.ErrBadArguments,
	framework.ErrOutcomeUnknown, framework.ErrNotConnected, framework.ErrClosed, framework.ErrSessionLost,
	locks.ErrNotAcquired, locks.ErrReleased, locks.ErrNodeDeleted,
}

// errOwn matches all of them, and is that of a transaction, too.
var (
	errOwn = errors.Join(&framework.TxnError{Err: errors.Join(sentinels...)}, errNothing)
	errAll = errors.Join(errOwn, context.DeadlineExceeded)
)

// trial is a call whose context ends while its request of the given number is under
// way. With the number -1, it ends before the call.
type trial struct {
	method
	request int
	fault   zktest.Action
}

// result is what a call returns and leaves.
type result struct {
	Answer  any
	Matches []string
	Left    []string
}

func (x trial) run(t *testing.T, end ending) (r result, made bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		p := start(t, srv)
		for _, key := range []string{certKey, "folder/other"} {
			require.NoError(t, p.Store(bounded(t), key, []byte("old")))
		}
		if x.before != nil {
			x.before(t, srv, p.Storage)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		hits := x.endContext(srv, p.client.SessionID(), func() { cancel(end.cause) })
		answer, err := x.call(end.as(ctx), p.Storage)
		cancel(nil)
		time.Sleep(330 * time.Second) // the client cleans up, and then the server, once a minute
		made = hits() > 0
		r = result{answer, matches(err), left(srv)}
	})
	return r, made
}

// endContext ends the context half a second after the request was sent, or else
// after half a minute. The function returned says how many such requests there
// were.
func (x trial) endContext(srv *zktest.Server, session int64, end func()) (hits func() int) {
	if x.request < 0 {
		end()
		return func() int { return 1 }
	}
	time.AfterFunc(30*time.Second, end)
	rule := zktest.Rule{Session: session, After: x.request, Do: x.fault}
	injection := srv.Inject(rule)
	rule.Do = zktest.Call(func(zktest.Request) { time.AfterFunc(500*time.Millisecond, end) })
	srv.Inject(rule)
	return injection.Hits
}

func matches(err error) (found []string) {
	if err != nil {
		found = append(found, "an error")
	}
	for _, s := range append(sentinels, context.Canceled, context.DeadlineExceeded) {
		if errors.Is(err, s) {
			found = append(found, s.Error())
		}
	}
	if failed := (*framework.TxnError)(nil); errors.As(err, &failed) {
		found = append(found, "operation "+strconv.Itoa(failed.Index))
	}
	return found
}

// guid finds what is different in the names of nodes each time.
var guid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

func left(srv *zktest.Server) (nodes []string) {
	for _, node := range srv.Tree() {
		line := guid.ReplaceAllString(node.Path, "GUID")
		if strings.HasPrefix(node.Path, root+"/keys/") {
			line += " " + strconv.Quote(string(node.Data))
		}
		nodes = append(nodes, line)
	}
	slices.Sort(nodes)
	return nodes
}
