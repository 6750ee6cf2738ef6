package httpsd_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/discovery/httpsd"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

// enter makes the node of an instance, in Spring's form.
func enter(t *testing.T, srv *zktest.Server, i discovery.Instance) {
	t.Helper()
	name, data, err := discovery.SpringCodec().Encode(i)
	require.NoError(t, err)
	require.NoError(t, srv.Create("/services/"+i.Service+"/"+name, data))
}

func fill(t *testing.T, srv *zktest.Server) {
	t.Helper()
	enter(t, srv, discovery.Instance{
		Service: "billing", ID: "b1", Address: "2001:db8::7", Port: 8080, TLSPort: 8443,
		Metadata: map[string]string{"zone": "b", "zone.name": "<ü>", "zone-name": "x", "9": "nine", "größe": "\u202e"},
	})
	enter(t, srv, discovery.Instance{Service: "orders", ID: "a1", Address: "10.0.0.7", Port: 8080, Disabled: true})
	require.NoError(t, srv.Create("/services/orders/tls", []byte(`{"name":"orders","id":"tls","address":"10.0.0.8","sslPort":8443}`)))
	require.NoError(t, srv.Create("/services/orders/nowhere", []byte(`{"name":"orders","id":"nowhere","port":8080}`)))
	require.NoError(t, srv.Create("/services/orders/portless", []byte(`{"name":"orders","id":"portless","address":"10.0.0.9"}`)))
	require.NoError(t, srv.Create("/services/orders/bad", []byte(`{`)))
}

func services(t *testing.T, c *framework.Client) *discovery.Directory {
	t.Helper()
	d, err := discovery.NewServices(c, "/services", discovery.SpringCodec())
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

func get(h http.Handler) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/targets", nil))
	return w
}

// wanted is what the directory of fill is for Prometheus.
const wanted = `[
	{"targets": ["[2001:db8::7]:8080"], "labels": {
		"__meta_zookeeper_service": "billing", "__meta_zookeeper_id": "b1", "__meta_zookeeper_disabled": "false",
		"__meta_zookeeper_tls_port": "8443", "__meta_zookeeper_metadata_instance_status": "UP",
		"__meta_zookeeper_metadata_zone": "b", "__meta_zookeeper_metadata_zone_name": "x",
		"__meta_zookeeper_metadata_9": "nine", "__meta_zookeeper_metadata_gr__e": "\u202e"}},
	{"targets": ["10.0.0.7:8080"], "labels": {
		"__meta_zookeeper_service": "orders", "__meta_zookeeper_id": "a1", "__meta_zookeeper_disabled": "true",
		"__meta_zookeeper_metadata_instance_status": "OUT_OF_SERVICE"}},
	{"targets": ["10.0.0.8:8443"], "labels": {
		"__meta_zookeeper_service": "orders", "__meta_zookeeper_id": "tls", "__meta_zookeeper_disabled": "false",
		"__meta_zookeeper_tls_port": "8443", "__scheme__": "https"}}
]`

func TestTargets(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		fill(t, w.Fake)
		d := services(t, w.Observer)
		require.NoError(t, d.WaitSynced(t.Context()))
		h := httpsd.Handler(d)
		got := get(h)
		require.Equal(t, http.StatusOK, got.Code)
		require.Equal(t, "application/json", got.Header().Get("Content-Type"))
		require.JSONEq(t, wanted, got.Body.String())
		require.Empty(t, got.Header().Get("Zookeeper-Interrupted"))
		require.NotEmpty(t, got.Header().Get("Zookeeper-Zxid"))

		var groups []struct{ Labels map[string]string }
		require.NoError(t, json.Unmarshal(got.Body.Bytes(), &groups))
		for _, g := range groups {
			for name := range g.Labels {
				require.Regexp(t, regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`), name)
			}
		}

		elsewhere := httpsd.Handler(d, httpsd.WithTarget(func(e *discovery.Entry) string {
			if e.Disabled || e.Address == "" {
				return ""
			}
			return e.ID + ":9100"
		}))
		require.Regexp(t, `"b1:9100".*"portless:9100".*"tls:9100"`, get(elsewhere).Body.String())
		require.NotContains(t, get(elsewhere).Body.String(), `"a1:9100"`)
	})
}

// A list without instances is a list, and tells Prometheus that they are gone.
func TestNoTargets(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		d := services(t, w.Observer)
		require.NoError(t, d.WaitSynced(t.Context()))
		got := get(httpsd.Handler(d))
		require.Equal(t, http.StatusOK, got.Code)
		require.Equal(t, "[]\n", got.Body.String())
	})
}

// Without a list, Prometheus keeps what it has: the status is no 200.
func TestNoListYet(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		w.Stop()
		c, err := framework.New(w.Addr, framework.WithDialer(w.Dial))
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		d := services(t, c)
		h := httpsd.Handler(d)
		time.Sleep(time.Second)
		got := get(h)
		require.Equal(t, http.StatusServiceUnavailable, got.Code)
		require.Contains(t, got.Body.String(), "there is no list of instances yet")
		require.Contains(t, got.Body.String(), "/services")

		w.Start()
		require.NoError(t, d.WaitSynced(t.Context()))
		require.Equal(t, http.StatusOK, get(h).Code)
		require.NoError(t, d.Close())
		got = get(h)
		require.Equal(t, http.StatusServiceUnavailable, got.Code)
		require.Contains(t, got.Body.String(), discovery.ErrClosed.Error())
	})
}

// A handler that cannot be used says why, and costs no target.
func TestHandlersThatCannotBe(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		d := services(t, w.Observer)
		require.NoError(t, d.WaitSynced(t.Context()))
		for name, h := range map[string]http.Handler{
			"directory": httpsd.Handler(nil),
			"option":    httpsd.Handler(d, nil),
		} {
			got := get(h)
			require.Equal(t, http.StatusServiceUnavailable, got.Code)
			require.Contains(t, got.Body.String(), "the "+name+" of the handler must not be nil")
		}
	})
}

// In an outage the answer is the last list, and says so.
func TestLastListInAnOutage(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		fill(t, w.Fake)
		d := services(t, w.Observer)
		require.NoError(t, d.WaitSynced(t.Context()))
		w.Stop()
		time.Sleep(time.Minute)
		got := get(httpsd.Handler(d))
		require.Equal(t, http.StatusOK, got.Code)
		require.Equal(t, "true", got.Header().Get("Zookeeper-Interrupted"))
		require.JSONEq(t, wanted, got.Body.String())
		w.Start()
	})
}

// A service that may not be read is no reason to lose the others.
func TestServiceThatMayNotBeRead(t *testing.T) {
	recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
		fill(t, w.Fake)
		_, err := w.Observer.Create(t.Context(), "/services/secret", nil,
			framework.WithACL([]zk.ACL{{Perms: zk.PermWrite, Scheme: "world", ID: "anyone"}}))
		require.NoError(t, err)
		d := services(t, w.Observer)
		require.NoError(t, d.WaitSynced(t.Context()))
		got := get(httpsd.Handler(d))
		require.Equal(t, http.StatusOK, got.Code)
		require.Empty(t, got.Header().Get("Zookeeper-Interrupted"))
		require.JSONEq(t, wanted, got.Body.String())
	})
}

func TestOnlyReads(t *testing.T) {
	w := httptest.NewRecorder()
	httpsd.Handler(nil).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/targets", nil))
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
	require.Equal(t, "GET, HEAD", w.Header().Get("Allow"))
}
