package discovery_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

func TestNerveNodes(t *testing.T) {
	i := discovery.Instance{
		Service: "orders", ID: "web-1_0000000007", Address: "10.0.0.7", Port: 8080,
		Metadata: map[string]string{"zone": "b"}, Payload: json.RawMessage(`{"name":"web-1","weight":3}`),
	}
	requireBothWays(t, discovery.NerveCodec(), i, "web-1_0000000007", `{"host":"10.0.0.7","labels":{"zone":"b"},"name":"web-1","port":8080,"weight":3}`)
	_, data, err := discovery.NerveCodec().Encode(orders(func(*discovery.Instance) {}))
	require.NoError(t, err)
	require.Equal(t, `{"host":"10.0.0.7","name":"a1","port":8080}`, string(data))
	for data, text := range map[string]string{
		`{"host":"h"}`:                        "host or port is missing",
		`{"port":1}`:                          "host or port is missing",
		`{"host":"h","port":1,"labels":[]}`:   "labels is no object: []",
		`{"host":"h","port":"x","labels":{}}`: `port is no integer: "x"`,
	} {
		_, err := discovery.NerveCodec().Decode("orders", "a1", []byte(data))
		require.EqualError(t, err, text)
	}
}
