//go:build real

package interop_test

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

// cuts is how often a test breaks a connection.
const cuts = 10

// openDirectory returns a directory of the service orders that is filled. It
// ends with the test.
func (srv *testServer) openDirectory(t *testing.T, base string, opts ...discovery.DirectoryOption) *discovery.Directory {
	t.Helper()
	return srv.openDirectoryAs(t, base, discovery.CuratorCodec(), "orders", opts...)
}

// openDirectoryAs is openDirectory with another format, and of another service.
func (srv *testServer) openDirectoryAs(t *testing.T, base string, codec discovery.Codec, service string, opts ...discovery.DirectoryOption) *discovery.Directory {
	t.Helper()
	d, err := discovery.NewDirectory(srv.observer, base, codec, service, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	require.NoError(t, d.WaitSynced(withDeadline(t)))
	return d
}

// order returns an instance of the service orders.
func order(id, address string) discovery.Instance {
	return discovery.Instance{Service: "orders", ID: id, Address: address, Port: 8080}
}

// register returns a registration that is there. It ends with the test.
func register(t *testing.T, c *framework.Client, base string, i discovery.Instance) *discovery.Registration {
	t.Helper()
	return registerAs(t, c, base, discovery.CuratorCodec(), i)
}

// registerAs is register with another format.
func registerAs(t *testing.T, c *framework.Client, base string, codec discovery.Codec, i discovery.Instance) *discovery.Registration {
	t.Helper()
	r, err := discovery.NewRegistration(c, base, codec, i)
	require.NoError(t, err)
	t.Cleanup(func() { r.Shutdown(withDeadline(t)) })
	_, err = r.WaitRegistered(withDeadline(t))
	require.NoError(t, err)
	return r
}

// requireChanges requires that these are the next changes of a directory. They
// are text, such as "added a1".
func requireChanges(t *testing.T, next func() (discovery.Change, error, bool), want ...string) {
	t.Helper()
	var got []string
	for len(got) < len(want) {
		ch, err, more := next()
		require.NoError(t, err)
		require.True(t, more, "the changes end after %v", got)
		text := ch.Type.String()
		switch {
		case ch.New != nil:
			text += " " + ch.New.ID
		case ch.Old != nil:
			text += " " + ch.Old.ID
		}
		got = append(got, text)
	}
	require.Equal(t, want, got)
}

// readChanges returns the changes of a directory one by one.
func readChanges(t *testing.T, d *discovery.Directory) func() (discovery.Change, error, bool) {
	t.Helper()
	// They are read until the end of the test, which may wait several times.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 3*waitLimit)
	next, stop := iter.Pull2(d.Changes(ctx))
	t.Cleanup(func() {
		cancel()
		stop()
	})
	return next
}

// discovered waits until a ServiceCache in Java has these instances, and returns how
// often its listeners were called.
func (p *peer) discovered(t *testing.T, want ...any) (events int) {
	t.Helper()
	words := p.must(t, append([]any{"discovery-cached", "orders", waitLimitMs}, want...)...)
	events, err := strconv.Atoi(words[0])
	require.NoError(t, err)
	return events
}

// A registrant in Java deletes its node and creates it again after each break of
// its connection. Our directory shows no gap.
func TestDirectoryShowsNoGapWhenJavaRegistersAgain(t *testing.T) {
	onEachCurator(t, func(t *testing.T, srv *testServer, start startFunc) {
		base, relay := lockPath(t), startMeter(t, srv.addr)
		java := start(t, relay.addr(), longSession)
		java.must(t, "discovery-open", "registry", base, "void", "compatible")
		java.must(t, "discovery-register", "registry", "orders", "a1", "one", "8080")
		// Java would not register again if the server deleted the service's path
		// as an empty container meanwhile.
		register(t, srv.observer, base, order("stays", "three"))
		d := srv.openDirectory(t, base, discovery.WithRemovalGrace(waitLimit))
		changes := readChanges(t, d)
		requireChanges(t, changes, "added a1", "added stays", "synced")

		node := base + "/orders/a1"
		created := srv.awaitNewNode(t, node, 0)
		for range cuts {
			relay.cut()
			created = srv.awaitNewNode(t, node, created)
			java.must(t, "discovery-query", "registry", "orders") // it has a connection
		}

		java.must(t, "discovery-register", "registry", "orders", "b1", "two", "8080")
		requireChanges(t, changes, "added b1")
		require.Len(t, d.Instances(), 3)
	})
}

// awaitNewNode waits until a node is there that is newer than a transaction, and
// returns the client that has created it.
func (srv *testServer) awaitNewNode(t *testing.T, path string, czxid int64) int64 {
	t.Helper()
	for {
		exists, stat, change, err := srv.observer.ExistsW(withDeadline(t), path)
		require.NoError(t, err)
		if exists && stat.Czxid > czxid {
			change.Stop()
			return stat.Czxid
		}
		_, err = change.Wait(withDeadline(t))
		require.NoError(t, err)
	}
}

// Instances come and go in both languages, and both see all of them.
func TestLanguagesSeeEachOthersInstances(t *testing.T) {
	onEachCurator(t, func(t *testing.T, srv *testServer, start startFunc) {
		base := lockPath(t)
		java := start(t, srv.addr, longSession)
		java.must(t, "discovery-open", "registry", base, "void", "compatible")
		java.must(t, "discovery-cache", "registry", "orders")
		changes := readChanges(t, srv.openDirectory(t, base, discovery.WithRemovalGrace(0)))
		requireChanges(t, changes, "synced")

		ours := register(t, srv.connect(t, longSession), base, order("a1", "one"))
		requireChanges(t, changes, "added a1")
		java.discovered(t, "a1=one")
		java.must(t, "discovery-register", "registry", "orders", "b1", "two", "8080")
		requireChanges(t, changes, "added b1")
		java.discovered(t, "a1=one", "b1=two")
		require.NoError(t, ours.Shutdown(withDeadline(t)))
		requireChanges(t, changes, "removed a1")
		java.discovered(t, "b1=two")
		java.must(t, "discovery-unregister", "registry", "b1")
		requireChanges(t, changes, "removed b1")
		java.discovered(t)
	})
}

// Java reads what we write, with and without a payload, and also when it is
// Disabled.
func TestJavaReadsOurInstances(t *testing.T) {
	onEachCurator(t, func(t *testing.T, srv *testServer, start startFunc) {
		base := lockPath(t)
		java, client := start(t, srv.addr, longSession), srv.connect(t, longSession)
		java.must(t, "discovery-open", "map", base, "map", "compatible")
		java.must(t, "discovery-open", "void", base, "void", "compatible")

		plain := order("a1", "one")
		register(t, client, base, plain)
		require.Equal(t, []string{"a1|one|8080|null|true|DYNAMIC|null|"},
			java.must(t, "discovery-query", "void", "orders"))
		full := order("a2", "two")
		full.TLSPort, full.Disabled = 8443, true
		full.Payload = []byte(`{"zone":"z"}`)
		full.URISpec = []byte(`{"parts":[{"value":"scheme","variable":true},{"value":"://","variable":false},` +
			`{"value":"address","variable":true},{"value":":","variable":false},{"value":"ssl-port","variable":true}]}`)
		register(t, client, base, full)
		require.Equal(t, []string{
			"a1|one|8080|null|true|DYNAMIC|null|",
			"a2|two|8080|8443|false|DYNAMIC|{zone=z}|https://two:8443",
		}, java.must(t, "discovery-query", "map", "orders"))
	})
}

// We read what Java writes in both of its forms, and write the same bytes, without
// the field enabled if that is true.
func TestWeReadJavasInstances(t *testing.T) {
	onEachCurator(t, func(t *testing.T, srv *testServer, start startFunc) {
		base := lockPath(t)
		java := start(t, srv.addr, longSession)
		codec := discovery.CuratorCodec()
		for _, form := range []string{"compatible", "enabled"} {
			java.must(t, "discovery-open", form, base, "map", form)
			java.must(t, "discovery-register", form, form, "a1", "one", "8080")
			java.must(t, "discovery-register", form, form, "a2", "two", "8080",
				"sslPort=8443", "uri={scheme}://{address}:{ssl-port}", "zone=z", "enabled=false")
			for _, id := range []string{"a1", "a2"} {
				data, _, err := srv.observer.Get(withDeadline(t), base+"/"+form+"/"+id)
				require.NoError(t, err)
				i, err := codec.Decode(form, id, data)
				require.NoError(t, err)
				_, again, err := codec.Encode(i)
				require.NoError(t, err)
				require.Equal(t, strings.Replace(string(data), `,"enabled":true`, "", 1), string(again))
				if id == "a1" {
					require.Equal(t, "one", i.Address)
					require.Nil(t, i.Payload)
					continue
				}
				require.Equal(t, 8443, i.TLSPort)
				require.Equal(t, form == "enabled", i.Disabled, "the other form does not say it")
				payload, err := discovery.PayloadOf[struct{ Zone string }](i)
				require.NoError(t, err)
				require.Equal(t, "z", payload.Zone)
			}
		}
	})
}
