package inspect_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/inspect"
	"github.com/gocurator/curator/testing/zktest"
)

// enter makes the node of an instance.
func enter(t *testing.T, c *framework.Client, codec discovery.Codec, i discovery.Instance) {
	t.Helper()
	name, data, err := codec.Encode(i)
	require.NoError(t, err)
	create(t, c, "/services/"+i.Service+"/"+name, string(data), framework.Ephemeral)
}

func (w *world) services(t *testing.T) (all []string) {
	t.Helper()
	for i, err := range inspect.Services(w.Patience(t), w.Observer, "/services", discovery.CuratorCodec()) {
		require.NoError(t, err)
		text := fmt.Sprint(i.Path, " ", i.Service, " ", i.Address, ":", i.Port)
		if i.SameAs != "" {
			text += " as " + i.SameAs
		}
		if i.Problem != "" {
			text += " " + i.Problem
		} else {
			text += " " + discovery.FormatOf(i.Instance)
		}
		all = append(all, text)
	}
	return all
}

// Instances of several formats are listed, and so is what should be one. Two at
// one address are told.
func TestServices(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		at := discovery.Instance{Service: "orders", ID: "a", Address: "10.0.0.7", Port: 80}
		enter(t, c, discovery.CuratorCodec(), at)
		at.ID = "b"
		enter(t, c, discovery.SpringCodec(), at)
		at.Service, at.Port = "com/stock", 81
		enter(t, c, discovery.DubboCodec(), at)
		create(t, c, "/services/orders/bad", "garbage", framework.Ephemeral)
		create(t, c, "/services/none", "", framework.Persistent)
		require.Equal(t, []string{
			"/services/com/stock/10.0.0.7:81 com/stock 10.0.0.7:81 dubbo",
			"/services/orders/a orders 10.0.0.7:80 curator",
			"/services/orders/b orders 10.0.0.7:80 as a spring",
			"/services/orders/bad orders :0 malformed: no JSON object: garbage",
		}, w.services(t))
		for i, err := range inspect.Services(t.Context(), w.Observer, "/services", discovery.CuratorCodec()) {
			require.NoError(t, err)
			require.EqualValues(t, c.SessionID(), i.Session)
			require.False(t, i.Since.IsZero())
		}
	})
}

// A walk says which registrations are instances, as far as their nodes do. That
// costs no request.
func TestRegistrationsThatAreInstances(t *testing.T) {
	onFakeAndReal(t, func(t *testing.T, w *world) {
		c, _ := w.Connect(t)
		at := discovery.Instance{Service: "orders", ID: "a", Address: "10.0.0.7", Port: 80}
		enter(t, c, discovery.CuratorCodec(), at)
		at.ID, at.Metadata = "b", map[string]string{"zone": "x"}
		enter(t, c, discovery.SpringCodec(), at)
		at.Service, at.Port = "com/stock", 81
		enter(t, c, discovery.DubboCodec(), at)
		create(t, c, "/services/orders/member", `{"name":"orders","id":"other","address":"10.0.0.7"}`, framework.Ephemeral)
		create(t, c, "/services/orders/nowhere", `{"name":"orders","id":"nowhere"}`, framework.Ephemeral)
		create(t, c, "/services/bills/a", `{"name":"orders","id":"a","address":"10.0.0.7"}`, framework.Ephemeral)
		var all []string
		for r, err := range inspect.Walk(w.Patience(t), w.Observer, "/services") {
			require.NoError(t, err)
			require.Equal(t, inspect.Registrations, r.Kind)
			for _, p := range r.Holders {
				text := p.Path + " " + p.ID
				if i := p.Instance; i != nil {
					text += fmt.Sprint(" ", i.Service, " ", i.ID, " zone ", i.Metadata["zone"], " ", discovery.FormatOf(*i))
				}
				all = append(all, text)
			}
		}
		require.Equal(t, []string{
			`/services/bills/a {"name":"orders","id":"a","address":"10.0.0.7"}`,
			"/services/com/stock/10.0.0.7:81 10.0.0.7:81 com/stock 10.0.0.7:81 zone x dubbo",
			"/services/orders/a 10.0.0.7:80 orders a zone  curator",
			"/services/orders/b 10.0.0.7:80 orders b zone x spring",
			`/services/orders/member {"name":"orders","id":"other","address":"10.0.0.7"}`,
			`/services/orders/nowhere {"name":"orders","id":"nowhere"} orders nowhere zone  curator`,
		}, all)
	})
}

// Anybody may write an address that begins a new line, or commands a terminal.
func TestAddressThatCannotBePrintedIsNoID(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		data := `{"name":"orders","id":"a","address":"10.0.0.7\n\u001b[2J"}`
		create(t, w.Observer, "/services/orders/a", data, framework.Ephemeral)
		p := w.one(t, "/services/orders").Holders[0]
		require.Equal(t, data, p.ID)
		require.Equal(t, "10.0.0.7\n\x1b[2J", p.Instance.Address)
		require.True(t, printable.Is(p.String()))
	})
}

// What may not be read is told, and costs nothing else.
func TestServicesThatMayNotBeRead(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		enter(t, w.Observer, discovery.CuratorCodec(), discovery.Instance{Service: "orders", ID: "a", Address: "10.0.0.7", Port: 80})
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/services/orders/a", Do: zktest.Fail(zktest.ErrNoAuth)})
		require.Equal(t, []string{"/services/orders/a orders :0 may not be read"}, w.services(t))
		require.Equal(t, []string{"/services/orders/a orders 10.0.0.7:80 curator"}, w.services(t))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/services/orders/a", Do: zktest.Fail(zktest.ErrNoNode)})
		require.Empty(t, w.services(t), "it has gone meanwhile")
	})
}

// An answer without an error is complete.
func TestServicesThatCannotBeListed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		fails := func(ctx context.Context, c *framework.Client, base string, codec discovery.Codec) (err error) {
			n := 0
			for _, err = range inspect.Services(ctx, c, base, codec) {
				n++
			}
			require.Equal(t, 1, n)
			return err
		}
		java := discovery.CuratorCodec()
		require.ErrorIs(t, fails(t.Context(), w.Observer, "/none", java), zk.ErrNoNode)
		require.ErrorIs(t, fails(t.Context(), w.Observer, "none", java), zk.ErrInvalidPath)
		require.ErrorIs(t, fails(t.Context(), w.Observer, "/", nil), zk.ErrBadArguments)
		require.ErrorIs(t, fails(t.Context(), nil, "/", java), zk.ErrBadArguments)
		enter(t, w.Observer, discovery.CuratorCodec(), discovery.Instance{Service: "orders", ID: "a", Address: "10.0.0.7", Port: 80})
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Do: zktest.Blackhole()})
		w.Fake.RefuseConnections(true)
		require.ErrorIs(t, fails(recipetest.Within(t, time.Second), w.Observer, "/services", java), context.DeadlineExceeded)
	})
}
