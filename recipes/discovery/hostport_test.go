package discovery_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

func TestHostPortNodes(t *testing.T) {
	codec := discovery.HostPortCodec()
	i := discovery.Instance{Service: "orders", ID: "[2001:db8::7]:8080", Address: "2001:db8::7", Port: 8080}
	requireBothWays(t, codec, i, i.ID, "")
	i.Payload = json.RawMessage(`{"Weight":10}`)
	requireBothWays(t, codec, i, i.ID, `{"Weight":10}`)
	got, err := codec.Decode("orders", "web-1:80", []byte("10.0.0.7"))
	require.NoError(t, err)
	require.Equal(t, discovery.Instance{Service: "orders", ID: "web-1:80", Address: "web-1", Port: 80}, got)
	for _, name := range []string{"web-1", ":80", "web-1:", "web-1:0", "web-1:65536", "web-1:-1", "::1:80", "web-1:80_solr"} {
		_, err := codec.Decode("orders", name, nil)
		require.EqualError(t, err, "no address:port: "+name)
	}
	_, err = codec.Decode("orders", "a\u202e", nil)
	require.EqualError(t, err, `no address:port: "a\u202e"`)
}

func TestHostPortOfAnInstance(t *testing.T) {
	for want, i := range map[string]discovery.Instance{
		"10.0.0.7:80": {Address: "10.0.0.7", Port: 80, TLSPort: 443},
		"shop:443":    {Address: "shop", TLSPort: 443},
		"[::1]:80":    {Address: "::1", Port: 80},
		"::1":         {Address: "::1"},
		"":            {Port: 80},
	} {
		require.Equal(t, want, i.HostPort())
	}
}
