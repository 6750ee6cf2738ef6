package inspect_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/zkinside"
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
	for _, r := range w.walk(t, "/services", inspect.WithServices(discovery.CuratorCodec())) {
		for _, p := range r.Holders {
			i := p.Instance
			text := fmt.Sprint(p.Path, " ", i.Service, " ", i.ID, " ", i.Address, ":", i.Port, " ", discovery.FormatOf(*i))
			switch {
			case p.Problem != "":
				text = fmt.Sprint(p.Path, " ", i.Service, " ", i.ID, " ", p.Problem)
			case p.Unreadable:
				text = fmt.Sprint(p.Path, " ", i.Service, " ", i.ID, " may not be read")
			}
			all = append(all, text)
		}
	}
	return all
}

// Instances of several formats are listed, also static ones, and so is what should
// be one.
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
		static := create(t, c, "/services/orders/static", `{"name":"orders","id":"static","address":"10.0.0.8","port":1}`, framework.Persistent)
		create(t, c, "/services/none", "", framework.Persistent)
		require.Equal(t, []string{
			"/services/com/stock/10.0.0.7:81 com/stock 10.0.0.7:81 10.0.0.7:81 dubbo",
			"/services/orders/a orders a 10.0.0.7:80 curator",
			"/services/orders/b orders b 10.0.0.7:80 spring",
			"/services/orders/bad orders bad malformed: no JSON object: garbage",
			"/services/orders/static orders static 10.0.0.8:1 curator",
		}, w.services(t))
		for _, r := range w.walk(t, "/services", inspect.WithServices(discovery.CuratorCodec())) {
			for _, p := range r.Holders {
				require.Equal(t, p.Path == static, p.Session == 0)
				require.False(t, p.Since.IsZero())
			}
		}
		require.NoError(t, c.Delete(t.Context(), static, framework.AnyVersion))
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
		data := `{"name":"orders","id":"a","address":"10.0.0.7\n\u001b7"}`
		create(t, w.Observer, "/services/orders/a", data, framework.Ephemeral)
		p := w.one(t, "/services/orders").Holders[0]
		require.Equal(t, data, p.ID)
		require.Equal(t, "10.0.0.7\n\x1b7", p.Instance.Address)
		require.True(t, printable.Is(p.String()))
	})
}

// What may not be read is told, and costs nothing else.
func TestServicesThatMayNotBeRead(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		enter(t, w.Observer, discovery.CuratorCodec(), discovery.Instance{Service: "orders", ID: "a", Address: "10.0.0.7", Port: 80})
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/services/orders/a", Do: zktest.Fail(zktest.ErrNoAuth)})
		require.Equal(t, []string{"/services/orders/a orders a may not be read"}, w.services(t))
		require.Equal(t, []string{"/services/orders/a orders a 10.0.0.7:80 curator"}, w.services(t))
		w.Fake.Inject(zktest.Rule{Op: zktest.OpGetData, Path: "/services/orders/a", Do: zktest.Fail(zkinside.ErrNoNode)})
		require.Empty(t, w.services(t), "it has gone meanwhile")
	})
}
