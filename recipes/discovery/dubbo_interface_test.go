package discovery_test

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

const orderService = "com.acme.OrderService"

// Dubbo 3.3.5 wrote these names.
func TestDubboInterfaceNamesAreJavas(t *testing.T) {
	codec := discovery.DubboInterfaceCodec("dubbo")
	name := "dubbo%3A%2F%2F10.0.0.7%3A20880%2Fcom.acme.OrderService%3Fapplication%3Dorders%26interface%3Dcom.acme.OrderService%26methods%3Dget%2Cput%26side%3Dprovider%26timestamp%3D1700000000123"
	i := discovery.Instance{
		Service: orderService, ID: name, Address: "10.0.0.7", Port: 20880, Registered: registered,
		Metadata: map[string]string{"application": "orders", "interface": orderService, "methods": "get,put", "side": "provider", "timestamp": "1700000000123"},
		Payload:  json.RawMessage(`{"protocol":"dubbo","path":"com.acme.OrderService"}`),
	}
	requireBothWays(t, codec, i, name, "")

	// What the service and the time say need not be said again.
	i.ID, i.Payload = "a1", nil
	delete(i.Metadata, "interface")
	delete(i.Metadata, "timestamp")
	got, data, err := codec.Encode(i)
	require.NoError(t, err)
	require.Empty(t, data)
	require.Equal(t, name, got)

	requireBothWays(t, discovery.DubboInterfaceCodec("tri"), discovery.Instance{
		Service: orderService, Address: "2001:db8::7", Port: 50051,
		ID:       "tri%3A%2F%2F%5B2001%3Adb8%3A%3A7%5D%3A50051%2Fcom.acme.OrderService%3Fapplication%3Dorders%26empty%3D%26group%3Dblue%26interface%3Dcom.acme.OrderService%26label%3Da%2520b%252Bc%252F%C3%A9%26version%3D1.0.0",
		Metadata: map[string]string{"application": "orders", "empty": "", "group": "blue", "interface": orderService, "label": "a%20b%2Bc%2Fé", "version": "1.0.0"},
		Payload:  json.RawMessage(`{"protocol":"tri","path":"com.acme.OrderService"}`),
	}, "tri%3A%2F%2F%5B2001%3Adb8%3A%3A7%5D%3A50051%2Fcom.acme.OrderService%3Fapplication%3Dorders%26empty%3D%26group%3Dblue%26interface%3Dcom.acme.OrderService%26label%3Da%2520b%252Bc%252F%C3%A9%26version%3D1.0.0", "")
}

// Java's URLEncoder wrote the first one, and Go's url.QueryEscape the second.
func TestDubboInterfaceEscapesAsJava(t *testing.T) {
	codec := discovery.DubboInterfaceCodec("dubbo")
	const service = "a b~!()'*-._"
	dir, err := codec.Dir(service)
	require.NoError(t, err)
	require.Equal(t, "/a+b%7E%21%28%29%27*-._/providers", dir)
	for _, dir := range []string{dir, "/a+b~%21%28%29%27%2A-._/providers", "/a%20b~!()'*-._/providers"} {
		got, ok := codec.Service(dir)
		require.True(t, ok)
		require.Equal(t, service, got)
	}
	for _, dir := range []string{"/a", "/a/consumers", "/a/b/providers", "/providers", "a/providers", "/%zz/providers", "//providers"} {
		_, ok := codec.Service(dir)
		require.False(t, ok, dir)
	}
	for _, service := range []string{"", ".", ".."} {
		_, err := codec.Dir(service)
		require.ErrorIs(t, err, zk.ErrInvalidPath)
	}
}

//go:embed testdata/dubbo_urls.txt
var dubboURLs string

// Each line is what Dubbo 3.3.5 was seen to read.
func TestDubboInterfaceReadsWhatDubboReads(t *testing.T) {
	codec := discovery.DubboInterfaceCodec("dubbo")
	for line := range strings.Lines(dubboURLs) {
		if line[0] == '#' {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		t.Run(f[0], func(t *testing.T) {
			f[2] = strings.Trim(f[2], "[]")
			i, err := codec.Decode(orderService, url.QueryEscape(f[0]), nil)
			require.NoError(t, err)
			payload, err := discovery.PayloadOf[struct{ Protocol, Path string }](i)
			require.NoError(t, err)
			var parameters []string
			for _, key := range slices.Sorted(maps.Keys(i.Metadata)) {
				parameters = append(parameters, key+"="+i.Metadata[key])
			}
			require.Equal(t, f[1:], []string{
				payload.Protocol,
				i.Address,
				strconv.Itoa(i.Port),
				cmp.Or(payload.Path, f[4]), // null and empty are the same
				"{" + strings.Join(parameters, ", ") + "}",
				strconv.FormatBool(!i.Disabled),
				strconv.FormatBool(i.Kind == discovery.Dynamic),
			})
		})
	}
}

func TestDubboInterfaceReadsURLs(t *testing.T) {
	codec := discovery.DubboInterfaceCodec("dubbo")
	i, err := codec.Decode(orderService, "dubbo://user:pass@h:1/a/b?dynamic=false&flag&&x=a=b", []byte("10.0.0.7"))
	require.NoError(t, err)
	require.Equal(t, "h", i.Address)
	require.Equal(t, 1, i.Port)
	require.Equal(t, discovery.Permanent, i.Kind)
	require.Equal(t, map[string]string{"dynamic": "false", "flag": "", "x": "a=b"}, i.Metadata)
	require.JSONEq(t, `{"protocol":"dubbo","path":"a/b"}`, string(i.Payload))
	for name, text := range map[string]string{
		"%zz":                                   `no escaped URL: %zz`,
		"%FF":                                   `no escaped URL: %FF`,
		"10.0.0.7%3A20880":                      `no URL: 10.0.0.7:20880`,
		"%3A%2F%2Fh%3A1":                        `no URL: ://h:1`,
		"dubbo://h/a":                           `no address:port: h`,
		"dubbo://h:0/a":                         `no address:port: h:0`,
		"dubbo://h:65536/a":                     `no address:port: h:65536`,
		"dubbo://%E2%80%AE/a":                   `no address:port: "\u202e"`,
		"dubbo://2001:db8::7/a":                 `no address:port: 2001:db8::7`,
		"dubbo://a:b:80/a":                      `no address:port: a:b:80`,
		"d://h:1/?" + strings.Repeat("&", 1001): `more than 1000 parameters`,
	} {
		_, err := codec.Decode(orderService, name, nil)
		require.EqualError(t, err, text)
	}
}

// Dubbo's consumers leave out a provider that is not enabled.
func TestDubboInterfaceEnabled(t *testing.T) {
	codec := discovery.DubboInterfaceCodec("dubbo")
	for enabled, disabled := range map[string]bool{
		"": false, "enabled=": false, "enabled": false, "enabled=TRUE": false,
		"enabled=false": true, "enabled=1": true, "enabled= true": true, "default.enabled=false": true,
	} {
		i, err := codec.Decode(orderService, "dubbo://h:1/"+orderService+"?"+enabled, nil)
		require.NoError(t, err)
		require.Equal(t, disabled, i.Disabled, enabled)
		name, data, err := codec.Encode(i)
		require.NoError(t, err, enabled)
		again, err := codec.Decode(orderService, name, data)
		require.NoError(t, err)
		require.Equal(t, disabled, again.Disabled, enabled)
		i.Disabled = !disabled // as Drain and Resume do
		_, _, err = codec.Encode(i)
		require.ErrorIs(t, err, zk.ErrBadArguments, enabled)
	}
}

func TestDubboInterfaceRefusesWhatAURLCannotSay(t *testing.T) {
	for _, change := range []func(*discovery.Instance){
		func(i *discovery.Instance) { i.Metadata = map[string]string{"a": "b&c"} },
		func(i *discovery.Instance) { i.Metadata = map[string]string{"a": "b;c"} },
		func(i *discovery.Instance) { i.Metadata = map[string]string{"a=b": "c"} },
		func(i *discovery.Instance) { i.Metadata = map[string]string{"": "c"} },
		func(i *discovery.Instance) { i.Service = "a/b" },
		func(i *discovery.Instance) { i.Service = "" },
		func(i *discovery.Instance) { i.Disabled = true },
		func(i *discovery.Instance) { i.TLSPort = 1 },
		func(i *discovery.Instance) { i.Address = "" },
	} {
		_, _, err := discovery.DubboInterfaceCodec("dubbo").Encode(orders(change))
		require.ErrorIs(t, err, zk.ErrBadArguments)
	}
	_, _, err := discovery.DubboInterfaceCodec("").Encode(orders(func(*discovery.Instance) {}))
	require.ErrorIs(t, err, zk.ErrBadArguments)
}
