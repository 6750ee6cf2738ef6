package discovery_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

func TestServersetNodes(t *testing.T) {
	i := discovery.Instance{
		Service: "orders", ID: "member_0000000007", Address: "10.0.0.7", Port: 8080,
		Payload: json.RawMessage(`{"additionalEndpoints":{"http":{"host":"10.0.0.7","port":80}},"shard":3}`),
	}
	requireBothWays(t, discovery.ServersetCodec(), i, "member_0000000007",
		`{"additionalEndpoints":{"http":{"host":"10.0.0.7","port":80}},"serviceEndpoint":{"host":"10.0.0.7","port":8080},"shard":3,"status":"ALIVE"}`)
	i.ID, i.Disabled, i.Payload = "a1", true, nil
	name, data, err := discovery.ServersetCodec().Encode(i)
	require.NoError(t, err)
	require.Equal(t, "member_a1", name)
	require.Equal(t, `{"additionalEndpoints":{},"serviceEndpoint":{"host":"10.0.0.7","port":8080},"status":"STOPPING"}`, string(data))
}

func TestServersetReads(t *testing.T) {
	codec := discovery.ServersetCodec()
	for data, disabled := range map[string]bool{
		`{"serviceEndpoint":{"host":"h","port":1},"status":"ALIVE"}`:    false,
		`{"serviceEndpoint":{"host":"h","port":1},"status":"STARTING"}`: true,
		`{"serviceEndpoint":{"host":"h","port":1}}`:                     true,
		`{"serviceEndpoint":{"host":"h","port":"1"}}`:                   true,
	} {
		i, err := codec.Decode("orders", "member_1", []byte(data))
		require.NoError(t, err)
		require.Equal(t, discovery.Instance{Service: "orders", ID: "member_1", Address: "h", Port: 1, Disabled: disabled}, i)
		_, err = codec.Decode("orders", "lock-1", []byte(data))
		require.ErrorIs(t, err, discovery.ErrNotInstance)
	}
	for data, text := range map[string]string{
		`{}`:                                 "must not be empty",
		`{"serviceEndpoint":[]}`:             "serviceEndpoint of type discovery.endpoint",
		`{"serviceEndpoint":{"port":70000}}`: "must not be empty",
		`{"status":{}}`:                      "status of type string",
		`{"serviceEndpoint":{"host":"h"}}`:   "must be from 1 to 65535",
	} {
		_, err := codec.Decode("orders", "member_1", []byte(data))
		require.ErrorContains(t, err, text)
	}
}
