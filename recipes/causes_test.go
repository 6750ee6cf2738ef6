package recipes_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

// A caller's context may end with any error as its cause, also with one of this
// library: errgroup hands on the error of another call. It must not make a
// difference. Each operation of the client and of every recipe runs with a
// context that ends while one of its requests is under way, with a cause that
// says nothing, and again with a cause that matches every error of the library,
// and under a context of the user's own making whose error does. What the call
// says, and what it leaves, is the same.
func TestCauseOfTheCallersContextIsNoAnswer(t *testing.T) {
	t.Parallel()
	endings := []ending{misleading(t), inItsOwnWords}
	for _, op := range everyOperation {
		for name, fault := range faultsOfOneRequest {
			if !thorough.Picked(6, op.name, name) {
				continue
			}
			t.Run(op.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				for request, more := -1, true; more; request++ {
					trial := trial{op: op, request: request, fault: fault}
					more = trial.causesMakeNoDifference(t, endings)
				}
			})
		}
	}
}

// trial is an operation whose context ends while its request of the given
// number is under way. With the number -1, it ends before the operation begins.
type trial struct {
	op      operation
	request int
	fault   requestFault
}

// requestFault is what happens to a request, and which request is under way when
// the context ends: this one, or the one after it.
type requestFault struct {
	do    zktest.Action
	later int
}

var faultsOfOneRequest = map[string]requestFault{
	"answered late":  {do: zktest.DelayReply(time.Second)},
	"processed late": {do: zktest.DelayRequest(time.Second)},
	"reply lost":     {do: zktest.DropReply(), later: 1},
}

// outcome is what a call says and leaves, as far as it is the same each time.
type outcome struct {
	Matches []string // the errors that the library finds in the call's error
	Code    int32    // of the server's answer
	Late    bool     // it has returned long after the context had ended
	Left    []string // the nodes, some time later
	Watches int
}

// causesMakeNoDifference reports whether the operation made as many requests.
func (x trial) causesMakeNoDifference(t *testing.T, endings []ending) (made bool) {
	t.Helper()
	plain, made := x.run(t, usual)
	for _, end := range endings {
		if told, _ := x.run(t, end); !reflect.DeepEqual(plain, told) {
			x.tellApart(t, end, plain, told)
		}
	}
	return made
}

// tellApart fails the test if the end was the reason for another outcome. Where
// goroutines of the library race, either outcome is seen with either end, and as often.
// So tellApart goes on in pairs, one run with each end. A pair counts if exactly one
// run has the other outcome: for a difference if the run has that end, and against it
// otherwise.
//
// This is Wald's test of one in two against nine in ten. If the end makes no
// difference, the chance of a failure is below one in 100,000. An end that matters in a
// part of the runs is found.
func (x trial) tellApart(t *testing.T, end ending, plain, told outcome) {
	t.Helper()
	const pairs, fails, passes = 100, 20, -4
	score := 0
	for range pairs {
		usually, _ := x.run(t, usual)
		now, _ := x.run(t, end)
		switch other, here := reflect.DeepEqual(usually, told), reflect.DeepEqual(now, told); {
		case here && !other:
			score++ // log(0.9/0.5)
		case other && !here:
			score -= 3 // log(0.1/0.5), in the same measure, and a little more
		}
		if score <= passes {
			return
		}
		if score >= fails {
			require.Equal(t, plain, told, "request %d", x.request)
		}
	}
}

func (x trial) run(t *testing.T, end ending) (result outcome, made bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		call := x.op.prepare(t, s)
		time.Sleep(20 * time.Second) // what the preparation has begun is over

		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan time.Time, 1)
		defer context.AfterFunc(ctx, func() { ended <- time.Now() })()
		hits := x.endContext(s, func() { cancel(end.cause) })
		err := call(end.as(ctx))
		select {
		case at := <-ended:
			result.Late = time.Since(at) > 10*time.Second
		default: // it has returned before the end
		}
		cancel(nil)
		time.Sleep(time.Minute) // the client needs time to clean up, or to lose its session
		result.Matches = matches(err)
		result.Code, _ = framework.ServerCode(err)
		for _, node := range s.srv.Tree() {
			result.Left = append(result.Left, random.ReplaceAllString(node.Path, "GUID"))
		}
		slices.Sort(result.Left)
		result.Watches = len(s.srv.Watches())
		made = hits() > 0
	})
	return result, made
}

// endContext ends the context half a second after the request was sent, when
// nothing else is under way, or else after a minute. The function returned says
// how many such requests there were.
func (x trial) endContext(s *scene, end func()) (hits func() int) {
	if x.request < 0 {
		end()
		synctest.Wait()
		return func() int { return 1 }
	}
	time.AfterFunc(30*time.Second, end)
	at := x.request
	rule := zktest.Rule{Optional: true, Session: s.client.SessionID(), After: at, Do: x.fault.do}
	injection := s.srv.Inject(rule)
	if x.fault.later > 0 {
		rule.After, rule.Do = at+x.fault.later, zktest.DelayReply(time.Second)
		s.srv.Inject(rule)
	}
	soon := zktest.Call(func(zktest.Request) { time.AfterFunc(500*time.Millisecond, end) })
	s.srv.Inject(zktest.Rule{Optional: true, Session: rule.Session, After: rule.After, Do: soon})
	return injection.Hits
}

// random finds what is different in the names of nodes each time.
var random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}|[A-Z2-7]{26}`)

// scene is where an operation takes place.
type scene struct {
	srv    *zktest.Server
	client *framework.Client
	rival  *framework.Client // nil until it is asked for
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{srv: zktest.Start(t)}
	s.client = s.connect(t)
	return s
}

// other returns another client, the same each time.
func (s *scene) other(t *testing.T) *framework.Client {
	t.Helper()
	if s.rival == nil {
		s.rival = s.connect(t)
	}
	return s.rival
}

func (s *scene) connect(t *testing.T, opts ...framework.Option) *framework.Client {
	t.Helper()
	c, err := framework.New(s.srv.Addr(), append([]framework.Option{framework.WithDialer(s.srv.Dialer())}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// matches names the errors that the library finds in an error.
func matches(err error) (names []string) {
	if err == nil {
		return nil
	}
	names = append(names, "an error")
	for name, target := range sentinels {
		if reason.Is(err, target) {
			names = append(names, name)
		}
	}
	if txn := (*framework.TxnError)(nil); reason.As(err, &txn) {
		names = append(names, "a transaction's")
	}
	if framework.IsRefusal(err) {
		names = append(names, "refusal")
	}
	if framework.IsConnectionError(err) {
		names = append(names, "no connection")
	}
	slices.Sort(names)
	return names
}

// sentinels are the errors by which the library decides, and its users.
var sentinels = map[string]error{
	"no node": zk.ErrNoNode, "node exists": zk.ErrNodeExists, "bad version": zk.ErrBadVersion, "not empty": zk.ErrNotEmpty,
	"no auth": zk.ErrNoAuth, "auth failed": zk.ErrAuthFailed, "bad arguments": zk.ErrBadArguments, "invalid ACL": zk.ErrInvalidACL,
	"connection closed": zk.ErrConnectionClosed, "no server": zk.ErrNoServer, "session expired": zk.ErrSessionExpired,
	"session moved": zk.ErrSessionMoved, "closing": zk.ErrClosing, "no children": zk.ErrNoChildrenForEphemerals,
	"unimplemented": &framework.ServerError{Code: -6}, "throttled": &framework.ServerError{Code: -127},
	"system error": &framework.ServerError{Code: -1}, "no watcher": &framework.ServerError{Code: -121},
	"client closed": framework.ErrClosed, "not connected": framework.ErrNotConnected, "session lost": framework.ErrSessionLost,
	"suspended": framework.ErrSuspended, "watch stopped": framework.ErrWatchStopped, "unknown": framework.ErrOutcomeUnknown,
	"too large":   framework.ErrRequestTooLarge,
	"rolled back": framework.ErrRolledBack, "not attempted": framework.ErrNotAttempted,
	"not acquired": locks.ErrNotAcquired, "upgrade": locks.ErrUpgrade,
	"released": locks.ErrReleased, "node deleted": locks.ErrNodeDeleted, "revoked": locks.ErrRevoked, "corrupted": locks.ErrCorrupted,
	"latch closed": leader.ErrClosed, "running": leader.ErrRunning,
	"not leader": leader.ErrNotLeader, "no leader": leader.ErrNoLeader, "no successor": leader.ErrNoSuccessor,
	"conflict": nodes.ErrConflict, "persistent node closed": nodes.ErrClosed, "persistent node deleted": nodes.ErrNodeDeleted,
	"in use": nodes.ErrInUse, "not touched": nodes.ErrNotTouched,
	"raised": barriers.ErrRaised, "not entered": barriers.ErrNotEntered, "not left": barriers.ErrNotLeft, "left": barriers.ErrLeft,
	"cache closed": cache.ErrClosed, "future": cache.ErrFutureZxid,
	"shared closed": shared.ErrClosed, "not synced": shared.ErrNotSynced, "replaced": shared.ErrNodeReplaced,
	"no version": atomic.ErrNoVersion, "ephemeral": atomic.ErrEphemeral, "restarted": atomic.ErrRestarted, "exhausted": atomic.ErrExhausted,
}

// ending is how a context ends.
type ending struct {
	cause error
	as    func(context.Context) context.Context // for the operation
}

var (
	usual         = ending{errNothing, func(ctx context.Context) context.Context { return ctx }}
	inItsOwnWords = ending{errNothing, func(ctx context.Context) context.Context { return ownContext{ctx} }}
)

var errNothing = errors.New("nothing")

// ownContext is of the user's own making. Its error matches those by which the
// library decides.
type ownContext struct{ context.Context }

func (c ownContext) Err() error {
	if c.Context.Err() == nil {
		return nil
	}
	return errOwn
}

var errOwn = errors.Join(slices.Collect(maps.Values(sentinels))...)

// misleading has a cause that matches each error by which the library decides.
// Parts of it are errors of real calls.
func misleading(t *testing.T) ending {
	t.Helper()
	all := []error{context.Canceled, context.DeadlineExceeded}
	for _, err := range sentinels {
		all = append(all, err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		all = append(all, s.missing(t), s.failedTransaction(t), s.notSent(t))
	})
	return ending{errors.Join(all...), usual.as}
}

func (s *scene) missing(t *testing.T) error {
	t.Helper()
	_, _, err := s.client.Get(t.Context(), "/missing")
	require.ErrorIs(t, err, zk.ErrNoNode)
	return err
}

func (s *scene) failedTransaction(t *testing.T) error {
	t.Helper()
	_, err := s.client.Transaction(t.Context(), framework.CheckOp("/missing", framework.AnyVersion))
	var failed *framework.TxnError
	require.ErrorAs(t, err, &failed)
	return err
}

// notSent returns the error of a client whose server is down.
func (s *scene) notSent(t *testing.T) error {
	t.Helper()
	noRoute := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") }
	down, err := framework.New("down:2181", framework.WithDialer(noRoute))
	require.NoError(t, err)
	defer down.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, _, err = down.Get(ctx, "/a")
	require.ErrorIs(t, err, framework.ErrNotConnected)
	return err
}
