package grpcresolver_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/resolver"

	"github.com/gocurator/curator/contrib/grpcresolver"
	"github.com/gocurator/curator/recipes/discovery"
)

func targetOf(t *testing.T, text string) resolver.Target {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	return resolver.Target{URL: *u}
}

// What can never be used is an error of Build, which says what is wrong.
func TestTargetsThatCannotBe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		b := w.builder(grpcresolver.WithClient("none", nil), grpcresolver.WithCodec("nil", nil))
		for target, problem := range map[string]string{
			"zookeeper:orders":                     "the form must be",
			"zookeeper:///":                        "empty element",
			"zookeeper:///services/":               "empty element",
			"zookeeper:///services//orders":        "empty element",
			"zookeeper://me@/services/orders":      "the form must be",
			"zookeeper:///services/orders#a":       "the form must be",
			"zookeeper:///services/..":             "..",
			"zookeeper://zk1:2181/services/orders": `no client "zk1:2181"`,
			"zookeeper://none/services/orders":     "client",
			orders + "?codec=xml":                  `no codec "xml"`,
			orders + "?codec=nil":                  "codec",
			orders + "?zones=a":                    `"zones"`,
			orders + "?zone=a&zone=b":              `"zone"`,
			orders + "?port":                       `"port"`,
			orders + "?zone=%zz":                   "escape",
		} {
			_, err := b.Build(targetOf(t, target), &conn{}, resolver.BuildOptions{})
			require.ErrorContains(t, err, problem, target)
			require.ErrorContains(t, err, "target zookeeper:", target)
		}
		require.Empty(t, w.Fake.Watches())
	})
}

// What is no option is an error of Build, too.
func TestOptionsThatCannotBe(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for name, option := range map[string]grpcresolver.Option{
			"nil":       nil,
			"of theirs": grpcresolver.WithDirectoryOptions(nil),
			"no grace":  grpcresolver.WithDirectoryOptions(discovery.WithRemovalGrace(-1)),
		} {
			_, err := w.builder(option).Build(targetOf(t, orders), &conn{}, resolver.BuildOptions{})
			require.ErrorContains(t, err, "must not be", name)
		}
	})
}

// The authority is the service, whatever the path before it, and the
// parameters.
func TestAuthorityIsTheService(t *testing.T) {
	b := grpcresolver.NewBuilder(nil)
	require.Equal(t, "zookeeper", b.Scheme())
	for target, authority := range map[string]string{
		orders:                "orders",
		"zookeeper:///orders": "orders",
		"zookeeper://prod/eu/shop/orders?port=ssl": "orders",
		"zookeeper:///services/com%2Ffoo%2Fbar":    "bar",
		"zookeeper:///dubbo/com.acme.Orders":       "com.acme.Orders",
		"zookeeper:///services/my orders":          "my%20orders",
		"zookeeper:///services/":                   "services%2F",
	} {
		require.Equal(t, authority, b.OverrideAuthority(targetOf(t, target)), target)
	}
}

// The elements of the path, with or without escapes, lead to the same nodes.
func TestTargetsLeadToServices(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		w.put(t, discovery.Instance{Service: "com/foo", ID: "a", Address: "10.0.0.1", Port: 1})
		w.put(t, discovery.Instance{Service: "my orders", ID: "a", Address: "10.0.0.1", Port: 2})
		other, _ := w.Connect(t)
		b := w.builder(grpcresolver.WithClient("prod", other))
		for target, told := range map[string]string{
			"zookeeper:///services/com/foo":     "state 10.0.0.1:1",
			"zookeeper:///services/com%2Ffoo":   "state 10.0.0.1:1",
			"zookeeper://prod/services/com/foo": "state 10.0.0.1:1",
			"zookeeper:///services/my%20orders": "state 10.0.0.1:2",
		} {
			c := channel(t, b, target)
			require.Equal(t, []string{told}, c.news(), target)
		}
	})
}
