package discovery_test

import (
	"encoding/json"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

// These are the bytes of the code of kitex-contrib/registry-zookeeper at bfdecef,
// and of hertz-contrib/registry at 8a22033, for the instances of their own tests. The
// one with an IPv6 address is hertz's only. Kitex escapes <, > and &, which none has.
func TestCloudWeGoNodes(t *testing.T) {
	codec := discovery.CloudWeGoCodec()
	i := discovery.Instance{
		Service: "product", ID: "10.0.0.7:9999", Address: "10.0.0.7", Port: 9999,
		Metadata: map[string]string{"group": "blue", "idc": "hd1"}, Payload: json.RawMessage(`{"Weight":100}`),
	}
	requireBothWays(t, codec, i, i.ID, `{"Weight":100,"Tags":{"group":"blue","idc":"hd1"}}`)
	i.Metadata, i.Payload = nil, json.RawMessage(`{"Weight":10}`)
	requireBothWays(t, codec, i, i.ID, `{"Weight":10,"Tags":null}`)
	i.Address, i.ID = "2001:db8::7", "[2001:db8::7]:9999"
	requireBothWays(t, codec, i, i.ID, `{"Weight":10,"Tags":null}`)
	i.Payload = nil
	_, data, err := codec.Encode(i)
	require.NoError(t, err)
	require.Equal(t, `{"Weight":0,"Tags":null}`, string(data))
	for _, payload := range []string{"7", `{"Weight":"7"}`, "[1]", "{\"Weight\":1,\"\xff\":2}"} {
		i.Payload = json.RawMessage(payload)
		_, _, err := codec.Encode(i)
		require.ErrorIs(t, err, zk.ErrBadArguments, payload)
	}
}

// Their readers take the names of the fields in any case of letters.
func TestCloudWeGoReads(t *testing.T) {
	codec := discovery.CloudWeGoCodec()
	for data, payload := range map[string]string{
		`{"weight":7,"TAGS":{"a":"b"},"x":1}`: `{"Weight":7}`,
		`{"Tags":{"a":"b"}}`:                  `{"Weight":0}`,
	} {
		i, err := codec.Decode("orders", "web-1:80", []byte(data))
		require.NoError(t, err)
		require.Equal(t, discovery.Instance{
			Service: "orders", ID: "web-1:80", Address: "web-1", Port: 80,
			Metadata: map[string]string{"a": "b"}, Payload: json.RawMessage(payload),
		}, i)
	}
	for _, data := range []string{"10.0.0.7", `{"Weight":"7"}`, `{"Tags":[]}`, `{"Weight":1} x`} {
		_, err := codec.Decode("orders", "web-1:80", []byte(data))
		require.EqualError(t, err, "no weight and tags: "+data)
	}
	_, err := codec.Decode("orders", "sub", nil)
	require.ErrorIs(t, err, discovery.ErrNotInstance)
	_, err = codec.Decode("orders", "2001:db8::7:80", []byte(`{"Weight":10}`)) // Kitex writes that, and does not read it
	require.EqualError(t, err, "no address:port: 2001:db8::7:80")
}
