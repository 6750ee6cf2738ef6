package discovery_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

// Java built these URIs.
func TestURISpecBuildsWhatJavaBuilds(t *testing.T) {
	i := orders(func(i *discovery.Instance) { i.TLSPort, i.Kind = 8443, discovery.DynamicSequential })
	for spec, want := range map[discovery.URISpec]string{
		"{scheme}://{address}:{ssl-port}/{name}/{id}/{service-type}/{registration-time-utc}": "https://10.0.0.7:8443/orders/a1/dynamic_sequential/1700000000123",
		"{[}x{]}":         "{x}",
		"{ scheme }://a":  "https://a",
		"{}":              "",
		"plain":           "plain",
		"":                "",
		"a{unknown}b{ }c": "abc",
	} {
		got, err := spec.Build(i, nil)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestURISpecWithoutValues(t *testing.T) {
	got, err := discovery.URISpec("{scheme}://{address}:{port}{ssl-port}/{registration-time-utc}{service-type}").Build(discovery.Instance{Kind: discovery.NoKind}, nil)
	require.NoError(t, err)
	require.Equal(t, "http://:/0", got)
}

func TestURISpecTakesVariables(t *testing.T) {
	got, err := discovery.URISpec("{scheme}://{address}:{port}/{tenant}").Build(orders(func(*discovery.Instance) {}), map[string]string{"scheme": "grpc", "tenant": "t1"})
	require.NoError(t, err)
	require.Equal(t, "grpc://10.0.0.7:8080/t1", got)
}

// Java makes http://::1:8080, which has no host.
func TestURISpecPutsBracketsAroundIPv6(t *testing.T) {
	for spec, want := range map[discovery.URISpec]string{
		"{scheme}://{address}:{port}":   "http://[::1]:8080",
		"{scheme}://[{address}]:{port}": "http://[::1]:8080",
		"{address}":                     "::1",
	} {
		got, err := spec.Build(orders(func(i *discovery.Instance) { i.Address = "::1" }), nil)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// Java builds what it is given. Only an IPv6 address has no other form with a
// port.
func TestURISpecLeavesOtherColonsAlone(t *testing.T) {
	i := orders(func(i *discovery.Instance) { i.Address = "10.0.0.7:8080" })
	for want, variables := range map[string]map[string]string{
		"http://10.0.0.7:8080/orders":  nil,
		"http://proxy:80/orders":       {"address": "proxy:80"},
		"http://[::1]/orders":          {"address": "[::1]"},
		"http://[fe80::1%eth0]/orders": {"address": "fe80::1%eth0"},
	} {
		got, err := discovery.URISpec("{scheme}://{address}/{name}").Build(i, variables)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestURISpecRefusesWrongBraces(t *testing.T) {
	for spec, reason := range map[discovery.URISpec]string{
		"{a{b}}": "a variable must not have a {",
		"}":      "} needs a { before it",
		"{a":     "{ needs a } behind it",
		discovery.URISpec(strings.Repeat("{a}", 3000)): "must be no longer than 8 KiB",
	} {
		_, err := spec.Build(discovery.Instance{}, nil)
		require.ErrorContains(t, err, reason)
		require.ErrorIs(t, err, zk.ErrBadArguments)
		_, _, err = discovery.CuratorCodec().Encode(orders(func(i *discovery.Instance) { i.URISpec = spec }))
		require.ErrorContains(t, err, reason)
	}
}

// A stranger's node must not make much of little.
func TestURIHasALimit(t *testing.T) {
	spec := discovery.URISpec(strings.Repeat("{id}", 2000))
	_, err := spec.Build(discovery.Instance{ID: strings.Repeat("i", 10000)}, nil)
	require.ErrorContains(t, err, "longer than 64 KiB")
	parts := `{"uriSpec":{"parts":[` + strings.Repeat(`{"value":"id","variable":true},`, 3000) + `{}]}}`
	_, err = discovery.CuratorCodec().Decode("orders", "a1", []byte(parts))
	require.ErrorContains(t, err, "must be no longer than 8 KiB")
}

func TestURISpecHasJavasParts(t *testing.T) {
	for spec, parts := range map[discovery.URISpec]int{
		"{scheme}://{address}:{ssl-port}/{name}/{id}/{service-type}/{registration-time-utc}": 13,
		"{[}x{]}": 3,
		"plain":   1,
	} {
		_, data, err := discovery.CuratorCodec().Encode(orders(func(i *discovery.Instance) { i.URISpec = spec }))
		require.NoError(t, err)
		var java struct{ URISpec struct{ Parts []any } }
		require.NoError(t, json.Unmarshal(data, &java))
		require.Len(t, java.URISpec.Parts, parts)
		got, err := discovery.CuratorCodec().Decode("orders", "a1", data)
		require.NoError(t, err)
		require.Equal(t, spec, got.URISpec)
	}
}

// Java throws for parts that are null.
func TestURISpecWithoutPartsIsNotWritten(t *testing.T) {
	_, data, err := discovery.CuratorCodec().Encode(orders(func(i *discovery.Instance) { i.URISpec = "{}" }))
	require.NoError(t, err)
	require.Contains(t, string(data), `"uriSpec":null`)
}

// Only parts can say these. The variable has no value in Java.
func TestURISpecOfPartsWithBraces(t *testing.T) {
	data := `{"uriSpec":{"parts":[{"value":"{x}"},{"value":"a}b","variable":true},{"value":"id","variable":true}]}}`
	i, err := discovery.CuratorCodec().Decode("orders", "a1", []byte(data))
	require.NoError(t, err)
	got, err := i.URISpec.Build(i, nil)
	require.NoError(t, err)
	require.Equal(t, "{x}a1", got)
}
