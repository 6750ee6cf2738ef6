package discovery_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

const dubboClass = `"@class":"org.apache.dubbo.registry.zookeeper.ZookeeperInstance"`

// Dubbo 3.3.5 wrote these bytes.
func TestDubboBytesAreJavas(t *testing.T) {
	payload := `{` + dubboClass + `,"id":"10.0.0.7:20880","name":"orders","metadata":{"instance_status":"UP","zone":"b"}}`
	data := `{"name":"orders","id":"10.0.0.7:20880","address":"10.0.0.7","port":20880,"sslPort":null,"payload":` + payload + `,"registrationTimeUTC":1700000000123,"serviceType":"DYNAMIC","uriSpec":null}`
	requireBothWays(t, discovery.DubboCodec(), orders(func(i *discovery.Instance) {
		i.ID, i.Port, i.Payload = "10.0.0.7:20880", 20880, json.RawMessage(payload)
		i.Metadata = map[string]string{"instance_status": "UP", "zone": "b"}
	}), "10.0.0.7:20880", data)
}

// Java's readers cannot take null metadata, and dubbo-go leaves much out.
func TestDubboMetadata(t *testing.T) {
	name, data, err := discovery.DubboCodec().Encode(orders(func(i *discovery.Instance) { i.Address = "::1" }))
	require.NoError(t, err)
	require.Equal(t, "[::1]:8080", name)
	require.Contains(t, string(data), `"metadata":{}`)
	i, err := discovery.DubboCodec().Decode("orders", "10.0.0.7:20000", []byte(`{"name":"orders","id":"x","address":"10.0.0.7","port":20000,"payload":{"metadata":{"dubbo.metadata.revision":"1"}},"tag":"a"}`))
	require.NoError(t, err)
	require.Equal(t, "10.0.0.7:20000", i.ID)
	require.Equal(t, map[string]string{"dubbo.metadata.revision": "1"}, i.Metadata)
}
