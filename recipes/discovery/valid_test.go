package discovery_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
)

func all() map[string]discovery.Codec {
	return map[string]discovery.Codec{
		"curator": discovery.CuratorCodec(), "spring": discovery.SpringCodec(), "dubbo": discovery.DubboCodec(),
		"dubbo interface": discovery.DubboInterfaceCodec("tri"), "serverset": discovery.ServersetCodec(),
	}
}

// An ID is the name of one node. A slash would make an instance below another.
func TestIDsAreNamesOfNodes(t *testing.T) {
	for _, format := range []string{"curator", "spring", "serverset"} {
		for _, id := range []string{"", "/", "a/b", ".", "..", "a\x00", "a\x1f", "\xff", "\U0001F600", "a\ud7ff\ue000"} {
			t.Run(fmt.Sprintf("%s %q", format, id), func(t *testing.T) {
				_, _, err := all()[format].Encode(orders(func(i *discovery.Instance) { i.ID = id }))
				require.ErrorIs(t, err, zk.ErrBadArguments)
				var bad *framework.ConfigError
				require.ErrorAs(t, err, &bad)
				require.Equal(t, "id", bad.Name)
			})
		}
	}
}

// The address makes the name of the node, or a part of a URL.
func TestAddressesThatMakeNoName(t *testing.T) {
	for _, format := range []string{"dubbo", "dubbo interface"} {
		for _, address := range []string{"a/b", "http://a"} {
			_, _, err := all()[format].Encode(orders(func(i *discovery.Instance) { i.Address = address }))
			require.ErrorIs(t, err, zk.ErrBadArguments, "%s %q", format, address)
		}
	}
	for _, address := range []string{"a?b", "a@b"} {
		_, _, err := all()["dubbo interface"].Encode(orders(func(i *discovery.Instance) { i.Address = address }))
		require.ErrorIs(t, err, zk.ErrBadArguments, address)
	}
}

func TestInstancesThatNoFormatCanTake(t *testing.T) {
	many := map[string]string{}
	for n := range 1001 {
		many[fmt.Sprint(n)] = ""
	}
	for name, change := range map[string]func(*discovery.Instance){
		"port too large":     func(i *discovery.Instance) { i.Port = 65536 },
		"negative port":      func(i *discovery.Instance) { i.Port = -1 },
		"TLS port too large": func(i *discovery.Instance) { i.TLSPort = 65536 },
		"negative TLS port":  func(i *discovery.Instance) { i.TLSPort = -1 },
		"brackets":           func(i *discovery.Instance) { i.Address = "[::1]" },
		"address":            func(i *discovery.Instance) { i.Address = "\xff" },
		"label":              func(i *discovery.Instance) { i.Metadata = map[string]string{"a": "\xff"} },
		"labels":             func(i *discovery.Instance) { i.Metadata = many },
		"payload":            func(i *discovery.Instance) { i.Payload = json.RawMessage(`{"a":`) },
	} {
		for format, codec := range all() {
			if strings.HasPrefix(format, "dubbo") && name == "payload" { // they make their own
				continue
			}
			t.Run(name+" in "+format, func(t *testing.T) {
				_, _, err := codec.Encode(orders(change))
				require.ErrorIs(t, err, zk.ErrBadArguments)
			})
		}
	}
	_, _, err := discovery.CuratorCodec().Encode(orders(func(i *discovery.Instance) { i.Kind = 5 }))
	require.EqualError(t, err, `invalid kind "Kind(5)": is unknown`)
}

// A format that cannot say that an instance drains must not say that it does not.
func TestDisabledIsSaidOrRefused(t *testing.T) {
	refuse := map[string]bool{"dubbo": true, "dubbo interface": true}
	for format, codec := range all() {
		i := orders(func(i *discovery.Instance) { i.Disabled = true })
		name, data, err := codec.Encode(i)
		if refuse[format] {
			require.ErrorIs(t, err, zk.ErrBadArguments, format)
			continue
		}
		require.NoError(t, err, format)
		got, err := codec.Decode("orders", name, data)
		require.NoError(t, err, format)
		require.True(t, got.Disabled, format)
	}
}

func TestTLSPortIsSaidOrRefused(t *testing.T) {
	have := map[string]bool{"curator": true, "spring": true}
	for format, codec := range all() {
		name, data, err := codec.Encode(orders(func(i *discovery.Instance) { i.TLSPort = 8443 }))
		if !have[format] {
			require.ErrorIs(t, err, zk.ErrBadArguments, format)
			continue
		}
		require.NoError(t, err, format)
		got, err := codec.Decode("orders", name, data)
		require.NoError(t, err, format)
		require.Equal(t, 8443, got.TLSPort, format)
	}
}

func TestDirOfAService(t *testing.T) {
	for format, codec := range all() {
		if format == "dubbo interface" {
			continue
		}
		for _, name := range []string{"orders", "/orders", "com/foo/bar"} {
			dir, err := codec.Dir(name)
			require.NoError(t, err)
			require.Equal(t, "/"+strings.TrimPrefix(name, "/"), dir)
			service, ok := codec.Service(dir)
			require.True(t, ok)
			require.Equal(t, strings.TrimPrefix(name, "/"), service)
		}
		for _, name := range []string{"", "/", "//", "a/", "a//b", ".", "a/..", "a\x00b"} {
			_, err := codec.Dir(name)
			require.ErrorIs(t, err, zk.ErrInvalidPath, "%q", name)
		}
		for _, dir := range []string{"", "/", "orders"} {
			_, ok := codec.Service(dir)
			require.False(t, ok, dir)
		}
	}
}

func TestDataHaveALimit(t *testing.T) {
	for format, codec := range all() {
		if format == "dubbo interface" { // it does not read them
			continue
		}
		data := `{"serviceEndpoint":{"host":"h","port":1},"host":"h","port":1,"x":"` + strings.Repeat("x", 1<<20) + `"}`
		_, err := codec.Decode("orders", "member_h:1", []byte(data))
		require.ErrorContains(t, err, "bytes are more than 1048576", format)
	}
	var b strings.Builder
	for n := range 1001 {
		fmt.Fprintf(&b, `"%d":"1",`, n)
	}
	_, err := discovery.SpringCodec().Decode("orders", "a1", []byte(`{"payload":{"metadata":{`+b.String()+`"b":"2"}}}`))
	require.ErrorContains(t, err, "1002 labels are more than 1000")
}
