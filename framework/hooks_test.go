package framework_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/clienttrace"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/state"
	"github.com/gocurator/curator/testing/zktest"
)

// recorder is a hook that remembers what it is told.
type recorder struct {
	mu      sync.Mutex
	started []clienttrace.Operation
	ended   []clienttrace.OperationEnd
	changes []clienttrace.StateChange
}

type operationKey struct{}

func (r *recorder) StartOperation(ctx context.Context, op clienttrace.Operation) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = append(r.started, op)
	return context.WithValue(ctx, operationKey{}, len(r.started))
}

func (r *recorder) EndOperation(ctx context.Context, end clienttrace.OperationEnd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Value(operationKey{}) != len(r.started) {
		panic("not the context of StartOperation")
	}
	r.ended = append(r.ended, end)
}

func (r *recorder) StateChanged(change clienttrace.StateChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, change)
}

// states returns the changes so far, once everything has settled.
func (r *recorder) states() []clienttrace.StateChange {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]clienttrace.StateChange(nil), r.changes...)
}

func TestTracerReceivesEveryOperation(t *testing.T) {
	for name := range everyOperation(nil) {
		t.Run(name, func(t *testing.T) {
			serverOnly(t, func(t *testing.T, srv *zktest.Server) {
				tracer := &recorder{}
				c := newClient(t, srv, framework.WithHooks(tracer))
				require.NoError(t, srv.Create("/n", nil))
				require.NoError(t, srv.Create("/n/a", nil))
				run := everyOperation(namespace(t, c, "/n"))[name]
				require.NoError(t, run(t.Context(), "/a"))

				require.Len(t, tracer.started, 1)
				op := tracer.started[0]
				kind, _, _ := strings.Cut(name, " ")
				require.Equal(t, strings.TrimSuffix(kind, "W"), op.Name)
				require.Contains(t, []string{"/a", "/a/new"}, op.Path)
				require.Equal(t, "/n", op.Chroot)
				require.Equal(t, []clienttrace.OperationEnd{{Operation: op, Start: time.Now(), Attempts: 1, Server: srv.Addr()}}, tracer.ended)

				err := run(t.Context(), "no path")
				require.Error(t, err)
				require.Len(t, tracer.started, 1, "refused before it began")
			})
		})
	}
}

func TestTracerIsToldHowAnOperationFailed(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		tracer := &recorder{}
		c := newClient(t, srv, framework.WithHooks(tracer), framework.WithConnectionTimeout(time.Second))
		_, _, err := c.Get(t.Context(), "/none")
		require.ErrorIs(t, err, zk.ErrNoNode)

		srv.Inject(zktest.Rule{Op: zktest.OpGetData, Times: 2, Do: zktest.DropReply()})
		_, _, err = c.Get(t.Context(), "/")
		require.NoError(t, err)

		srv.RefuseConnections(true)
		srv.CutAll()
		synctest.Wait()
		_, _, notConnected := c.Get(t.Context(), "/")
		require.ErrorIs(t, notConnected, framework.ErrNotConnected)

		require.Len(t, tracer.ended, 3)
		require.ErrorIs(t, tracer.ended[0].Err, zk.ErrNoNode)
		get := clienttrace.Operation{Name: "get", Path: "/"}
		end := tracer.ended[1]
		require.Equal(t, clienttrace.OperationEnd{Operation: get, Start: end.Start, Attempts: 3, Server: srv.Addr()}, end)
		end = tracer.ended[2]
		require.Equal(t, clienttrace.OperationEnd{Operation: get, Start: time.Now().Add(-time.Second), Err: notConnected}, end)
	})
}

func TestTracerReceivesEveryStateFromTheFirst(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		srv.RefuseConnections(true)
		tracer := &recorder{}
		begin := time.Now()
		c := newClient(t, srv, framework.WithHooks(tracer))
		time.Sleep(sessionTimeout + time.Second)
		srv.RefuseConnections(false)
		require.NoError(t, c.WaitConnected(t.Context()))
		id := c.SessionID()
		srv.Session(id).Expire()
		time.Sleep(time.Minute)
		lastSent := time.Now().Truncate(0)
		outage(srv, time.Minute)
		time.Sleep(time.Minute)

		got := tracer.states()
		want := []state.State{
			state.Suspended, state.Lost, state.Connected, state.Suspended, state.Lost, state.Reconnected,
			state.Suspended, state.Lost, state.Reconnected,
		}
		require.Len(t, got, len(want))
		for i, change := range got {
			require.Equal(t, want[i], change.State)
			require.Equal(t, srv.Addr(), change.Server)
			require.False(t, i > 0 && change.Time.Before(got[i-1].Time))
		}
		require.Equal(t, begin, got[0].Time)
		require.Zero(t, got[0].SessionID)
		require.ErrorContains(t, got[0].Cause, "refused")
		require.Zero(t, got[1].SessionID)
		require.ErrorContains(t, got[1].Cause, "refused", "there was no session to lose")
		require.Equal(t, id, got[2].SessionID)
		require.NoError(t, got[2].Cause)
		require.Equal(t, id, got[4].SessionID, "the one that was lost")
		require.EqualError(t, got[4].Cause, "session lost: the server has ended it")
		second := got[5].SessionID
		require.NotEqual(t, id, second)
		require.NoError(t, got[6].Cause, "an idle connection broke")
		require.Equal(t, second, got[7].SessionID)
		require.ErrorIs(t, got[7].Cause, framework.ErrSessionLost)
		require.EqualError(t, got[7].Cause, "session lost: no answer within its time")
		require.WithinDuration(t, lastSent, got[7].Time, trusted)
		require.Equal(t, c.SessionID(), got[8].SessionID)
	})
}

// idle is a hook that has the methods of operations, and does nothing.
type idle struct{}

func (idle) StartOperation(ctx context.Context, _ clienttrace.Operation) context.Context { return ctx }
func (idle) EndOperation(context.Context, clienttrace.OperationEnd)                      {}

// named is a hook that notes in the context that it was asked, and in a list
// what it sees there at the end.
type named struct {
	name string
	seen *[]string
}

type namedKey struct{}

func (n named) StartOperation(ctx context.Context, _ clienttrace.Operation) context.Context {
	before, _ := ctx.Value(namedKey{}).(string)
	return context.WithValue(ctx, namedKey{}, before+n.name)
}

func (n named) EndOperation(ctx context.Context, end clienttrace.OperationEnd) {
	*n.seen = append(*n.seen, n.name+" sees "+ctx.Value(namedKey{}).(string)+" at the end of "+end.Name)
}

// onlyEnds has only the method for ends.
type onlyEnds struct{ seen *[]string }

func (o onlyEnds) EndOperation(_ context.Context, end clienttrace.OperationEnd) {
	*o.seen = append(*o.seen, "only ends: "+end.Name)
}

func TestEveryHookReceivesAnOperation(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		var seen []string
		c := newClient(t, srv, framework.WithHooks(named{"a", &seen}, onlyEnds{&seen}), framework.WithHooks(named{"b", &seen}))
		require.NoError(t, c.Sync(t.Context(), "/"))
		require.Equal(t, []string{"a sees ab at the end of sync", "only ends: sync", "b sees ab at the end of sync"}, seen)
	})
}

// lockedBuffer is a bytes.Buffer for several goroutines.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// openClients is a hook that counts the clients that it serves.
type openClients struct {
	mu   sync.Mutex
	open map[clienttrace.Client]bool
}

func (o *openClients) ClientOpened(c clienttrace.Client) { o.set(c, true) }
func (o *openClients) ClientClosed(c clienttrace.Client) { o.set(c, false) }

func (o *openClients) set(c clienttrace.Client, open bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open[c] == open {
		panic("told twice")
	}
	o.open[c] = open
}

func TestTracerReceivesEachClientOnce(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		tracer := &openClients{open: map[clienttrace.Client]bool{}}
		one := newClient(t, srv, framework.WithHooks(tracer))
		two := newClient(t, srv, framework.WithHooks(tracer))
		require.Equal(t, map[clienttrace.Client]bool{framework.Extend(one): true, framework.Extend(two): true}, tracer.open)
		require.NoError(t, namespace(t, one, "/view").Close())
		require.NoError(t, one.Close())
		require.Equal(t, map[clienttrace.Client]bool{framework.Extend(one): false, framework.Extend(two): true}, tracer.open)
	})
}

func TestWatchesAreTheServersWatches(t *testing.T) {
	serverOnly(t, func(t *testing.T, srv *zktest.Server) {
		c := newClient(t, srv)
		require.Zero(t, insider.Of(c).Watches())
		_, _, one, err := c.GetW(t.Context(), "/")
		require.NoError(t, err)
		_, _, two, err := c.GetW(t.Context(), "/")
		require.NoError(t, err)
		_, _, three, err := c.ChildrenW(t.Context(), "/")
		require.NoError(t, err)
		require.Equal(t, 2, insider.Of(c).Watches(), "two of them are one")
		require.Len(t, srv.Watches(), 2)
		for _, w := range []*framework.Watch{one, two, three} {
			w.Stop()
		}
		require.Zero(t, insider.Of(c).Watches())
	})
}
