package framework

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/testing/zktest"
)

// The goroutines of a session go on for a while when it is lost. Whatever they
// tell then changes nothing of the next session, whether that is connected
// already or not.
//
// Promise: A late reply of a lost session sets no watch in the next session.
func TestLateCallbacksOfALostSessionChangeNothing(t *testing.T) {
	for _, connected := range thorough.Size([]bool{true, false}, []bool{true}) {
		for name := range lateCallbacks(t, nil) {
			t.Run(fmt.Sprintf("%s, connected %v", name, connected), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { lateCallback(t, name, connected) })
			})
		}
	}
}

func lateCallback(t *testing.T, name string, connected bool) {
	srv := zktest.Start(t)
	c, err := New(srv.Addr(), WithDialer(srv.Dialer()), WithSessionTimeout(9*time.Second))
	require.NoError(t, err)
	defer c.Close()
	w, err := c.NewWatcher(t.Context(), "/n")
	require.NoError(t, err)
	defer w.Close()
	lost := c.session
	late := lateCallbacks(t, lost)[name]

	srv.RefuseConnections(true)
	srv.CutAll()
	<-lost.ctx.Done()
	if connected {
		srv.RefuseConnections(false)
		require.NoError(t, c.WaitConnected(t.Context()))
	}
	time.Sleep(2 * time.Second)
	synctest.Wait()
	require.NotSame(t, lost, c.session)

	before, told := Extend(c).Status(), c.last
	late()
	synctest.Wait()
	require.Equal(t, before, Extend(c).Status())
	require.Same(t, told, c.last, "there was no transition")

	srv.RefuseConnections(false)
	require.NoError(t, c.WaitConnected(t.Context()))
	synctest.Wait()
	ev, ok, err := w.Poll()
	require.True(t, ok && ev.Reset, "%+v %v", ev, err)
	require.NoError(t, srv.Create("/n", nil))
	synctest.Wait()
	ev, ok, err = w.Poll()
	require.True(t, ok && ev.Type == zk.EventNodeCreated, "%+v %v", ev, err)
	_, ok, err = w.Poll()
	require.False(t, ok, "%v", err)
}

// lateCallbacks returns what a session calls in its client, by name: all that
// its connections and the library call, and the answers to a request for a
// persistent watch. Without a session, only the names count.
func lateCallbacks(t *testing.T, s *Session) map[string]func() {
	t.Helper()
	var answered func(code int32, err error)
	if s == nil {
		s = &Session{client: &Client{core: &core{cfg: defaultConfig()}}}
	} else {
		s.watches.Restore(func(_ []transport.SetWatch, persistent []*transport.PersistentWatch) {
			answered = persistent[0].Then
		})
	}
	all := map[string]func(){
		"the end":                 func() { s.end(errTimeUp) },
		"the end of the watches":  func() { s.watches.End() },
		"a failed attempt":        func() { s.disconnected(errors.New("down")) },
		"the begin of an attempt": func() { s.noteAttempt("elsewhere:2181") },
		"a round of attempts":     func() { s.refusedRound() },
	}
	for st := zk.StateExpired; st <= zk.StateHasSession; st++ {
		all[fmt.Sprintf("event of state %d", st)] = func() { s.event(zk.Event{Type: zk.EventSession, State: st}) }
	}
	for _, code := range []int32{0, -2, -6, -102, -127} {
		all[fmt.Sprintf("answer %d to addWatch", code)] = func() { answered(code, nil) }
	}
	all["lost answer to addWatch"] = func() { answered(0, transport.ErrLost) }
	cfg := reflect.ValueOf(s.linkConfig(0))
	for i := range cfg.NumField() {
		if f := cfg.Field(i); f.Kind() == reflect.Func {
			all["Config."+cfg.Type().Field(i).Name] = func() { f.Call(someArguments(f.Type())) }
		}
	}
	return all
}

// someArguments are arguments that make a difference if the function heeds
// them.
func someArguments(f reflect.Type) (args []reflect.Value) {
	for i := range f.NumIn() {
		switch in := f.In(i); {
		case in.Kind() == reflect.Func:
			args = append(args, reflect.MakeFunc(in, func([]reflect.Value) []reflect.Value { return nil }))
		case in == reflect.TypeFor[error]():
			args = append(args, reflect.ValueOf(&transport.AuthError{Scheme: "digest", Code: -115}))
		case in.Kind() == reflect.Int32:
			args = append(args, reflect.ValueOf(proto.CodeThrottled))
		case in == reflect.TypeFor[transport.Event]():
			args = append(args, reflect.ValueOf(transport.Event{Type: int32(zk.EventNodeDataChanged), Path: "/n"}))
		default:
			panic("no argument for " + in.String())
		}
	}
	return args
}
