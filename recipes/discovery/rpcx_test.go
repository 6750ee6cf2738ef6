package discovery_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

// These are the nodes of rpcxio/rpcx-zookeeper at abb7ff0, by its code. What its
// users call metadata is the text of the node, and it sorts them when it writes
// them again.
func TestRPCXNodes(t *testing.T) {
	codec := discovery.RPCXCodec()
	i := discovery.Instance{
		Service: "Arith", ID: "tcp@127.0.0.1:8972", Address: "127.0.0.1", Port: 8972, Payload: json.RawMessage(`{"network":"tcp"}`),
	}
	requireBothWays(t, codec, i, i.ID, "")
	const text = "calls=1.50&connections=0.00&group=a+b&weight=10"
	i.Metadata = map[string]string{"calls": "1.50", "connections": "0.00", "group": "a b", "weight": "10"}
	i.ID, i.Payload = "quic@127.0.0.1:8972", json.RawMessage(`{"network":"quic","metadata":"`+text+`"}`)
	requireBothWays(t, codec, i, i.ID, text)
	i = discovery.Instance{
		Service: "Arith", ID: "tcp@[2001:db8::7]:8972", Address: "2001:db8::7", Port: 8972, Disabled: true,
		Metadata: map[string]string{"state": "inactive"}, Payload: json.RawMessage(`{"network":"tcp","metadata":"state=inactive"}`),
	}
	requireBothWays(t, codec, i, i.ID, "state=inactive")
	for _, payload := range []string{"7", `{"network":""}`, `{"network":"a@b"}`, `{"network":"a/b"}`, "{\"network\":\"\xff\"}"} {
		i.Payload = json.RawMessage(payload)
		_, _, err := codec.Encode(i)
		require.ErrorIs(t, err, zk.ErrBadArguments, payload)
	}
}

// Disabled decides what is written as the state, and any state but inactive
// means that the instance wants to be picked.
func TestRPCXState(t *testing.T) {
	codec := discovery.RPCXCodec()
	for _, c := range []struct {
		state    string
		disabled bool
		data     string
	}{
		{"inactive", false, "a=b"},
		{"active", false, "a=b&state=active"},
		{"active", true, "a=b&state=inactive"},
	} {
		i := orders(func(i *discovery.Instance) {
			i.Disabled, i.Metadata = c.disabled, map[string]string{"a": "b", "state": c.state}
		})
		name, data, err := codec.Encode(i)
		require.NoError(t, err)
		require.Equal(t, c.data, string(data))
		got, err := codec.Decode("orders", name, data)
		require.NoError(t, err)
		require.Equal(t, c.disabled, got.Disabled)
	}
}

// rpcx takes a name without a network for one with tcp, and a selector malformed
// metadata for none. A node whose data are still to come has a control character.
func TestRPCXReads(t *testing.T) {
	codec := discovery.RPCXCodec()
	plain := discovery.Instance{Service: "orders", ID: "web-1:80", Address: "web-1", Port: 80}
	for data, want := range map[string]map[string]string{
		"":                                 nil,
		"\x01":                             nil,
		"\x01a=b":                          {"\x01a": "b"},
		"state=inactive&a=%zz":             nil,
		"state=inactive;a":                 nil,
		"group=test1&group=test&ops=20&&x": {"group": "test1", "ops": "20", "x": ""},
	} {
		i, err := codec.Decode("orders", plain.ID, []byte(data))
		require.NoError(t, err)
		payload, err := discovery.PayloadOf[struct{ Network, Metadata string }](i)
		require.NoError(t, err)
		require.Equal(t, "tcp", payload.Network)
		if data != "\x01" {
			require.Equal(t, data, payload.Metadata)
		} else {
			require.Empty(t, payload.Metadata)
		}
		i.Payload = nil
		plain.Metadata = want
		require.Equal(t, plain, i)
	}
	for name, text := range map[string]string{
		"web-1": "no address:port: web-1", "tcp@web-1": "no address:port: web-1", "unix@": "no address:port: ",
		"@web-1:80": "no network@address:port: @web-1:80", "a@b@c:1:2": "no address:port: b@c:1:2",
		"tcp@web-1:0": "no address:port: web-1:0",
	} {
		_, err := codec.Decode("orders", name, nil)
		require.EqualError(t, err, text)
	}
	_, err := codec.Decode("orders", "web-1:80", []byte("a=%ff"))
	require.EqualError(t, err, "metadata are not UTF-8: a=%ff")
	_, err = codec.Decode("orders", "web-1:80", []byte(strings.Repeat("a&", 1000)))
	require.EqualError(t, err, "more than 1000 metadata")
}

// What is written can be read, also at the limit.
func TestRPCXStateIsALabel(t *testing.T) {
	codec := discovery.RPCXCodec()
	i := orders(func(i *discovery.Instance) { i.Metadata = map[string]string{} })
	for n := range 1000 {
		i.Metadata[fmt.Sprint(n)] = "x"
	}
	name, data, err := codec.Encode(i)
	require.NoError(t, err)
	got, err := codec.Decode("orders", name, data)
	require.NoError(t, err)
	require.Equal(t, i.Metadata, got.Metadata)
	i.Disabled = true
	_, _, err = codec.Encode(i)
	require.ErrorIs(t, err, zk.ErrBadArguments)
}

// A payload that is null is none.
func TestPayloadThatIsNull(t *testing.T) {
	i := orders(func(i *discovery.Instance) { i.Payload = json.RawMessage("null") })
	name, _, err := discovery.RPCXCodec().Encode(i)
	require.NoError(t, err)
	require.Contains(t, name, "tcp@")
	_, data, err := discovery.CloudWeGoCodec().Encode(i)
	require.NoError(t, err)
	require.Contains(t, string(data), `{"Weight":0,`)
}
