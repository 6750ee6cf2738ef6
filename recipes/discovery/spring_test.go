package discovery_test

import (
	"encoding/json"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

const springClass = `"@class":"org.springframework.cloud.zookeeper.discovery.ZookeeperInstance"`

// Spring Cloud Zookeeper 4.3.0 wrote these bytes.
func TestSpringBytesAreJavas(t *testing.T) {
	payload := `{` + springClass + `,"id":"application-1","name":"orders","metadata":{"instance_status":"UP","zone":"b"}}`
	i := orders(func(i *discovery.Instance) {
		i.URISpec, i.Payload = plainURI, json.RawMessage(payload)
		i.Metadata = map[string]string{"instance_status": "UP", "zone": "b"}
	})
	data := `{"name":"orders","id":"a1","address":"10.0.0.7","port":8080,"sslPort":null,"payload":` + payload + `,"registrationTimeUTC":1700000000123,"serviceType":"DYNAMIC","uriSpec":{"parts":[{"value":"scheme","variable":true},{"value":"://","variable":false},{"value":"address","variable":true},{"value":":","variable":false},{"value":"port","variable":true}]}}`
	requireBothWays(t, discovery.SpringCodec(), i, "a1", data)

	// The URI and the status need not be given.
	i.URISpec, i.Payload = nil, json.RawMessage(`{"id":"application-1"}`)
	i.Metadata = map[string]string{"zone": "b"}
	_, got, err := discovery.SpringCodec().Encode(i)
	require.NoError(t, err)
	require.Equal(t, data, string(got))
}

func TestSpringURIOfInstances(t *testing.T) {
	for want, change := range map[string]func(*discovery.Instance){
		`"https://[::1]:8443"`: func(i *discovery.Instance) { i.URISpec = json.RawMessage(`"https://[::1]:8443"`) },
		`{"parts":[{"value":"scheme","variable":true},{"value":"://[","variable":false},{"value":"address","variable":true},{"value":"]:","variable":false},{"value":"ssl-port","variable":true}]}`: func(i *discovery.Instance) {
			i.Address, i.TLSPort = "::1", 8443
		},
	} {
		name, data, err := discovery.SpringCodec().Encode(orders(change))
		require.NoError(t, err)
		i, err := discovery.SpringCodec().Decode("orders", name, data)
		require.NoError(t, err)
		require.Equal(t, want, string(i.URISpec))
	}
}

// Spring says in its metadata whether an instance wants to be picked.
func TestSpringStatus(t *testing.T) {
	for _, c := range []struct {
		given    string
		disabled bool
		written  string
	}{
		{"", false, "UP"}, {"UP", false, "UP"}, {"up", false, "up"}, {"OUT_OF_SERVICE", false, "UP"},
		{"", true, "OUT_OF_SERVICE"}, {"UP", true, "OUT_OF_SERVICE"}, {"DOWN", true, "DOWN"},
	} {
		name, data, err := discovery.SpringCodec().Encode(orders(func(i *discovery.Instance) {
			i.Disabled = c.disabled
			if c.given != "" {
				i.Metadata = map[string]string{"instance_status": c.given}
			}
		}))
		require.NoError(t, err)
		require.NotContains(t, string(data), "enabled")
		i, err := discovery.SpringCodec().Decode("orders", name, data)
		require.NoError(t, err)
		require.Equal(t, c.written, i.Metadata["instance_status"])
		require.Equal(t, c.disabled, i.Disabled)
	}
	for payload, disabled := range map[string]bool{
		`null`: false, `{}`: false, `{"metadata":null}`: false, `{"metadata":{"instance_status":null}}`: false, `"x"`: false,
		`{"metadata":{"instance_status":""}}`: false, `{"metadata":{"instance_status":"DOWN"}}`: true,
	} {
		i, err := discovery.SpringCodec().Decode("orders", "a1", []byte(`{"payload":`+payload+`}`))
		require.NoError(t, err)
		require.Equal(t, disabled, i.Disabled, payload)
	}
}

// One instance without a port fails the whole service in Spring.
func TestSpringNeedsAnAddressAndAPort(t *testing.T) {
	for _, change := range []func(*discovery.Instance){
		func(i *discovery.Instance) { i.Address = "" },
		func(i *discovery.Instance) { i.Port, i.TLSPort = 0, 8443 },
		func(i *discovery.Instance) { i.Payload = json.RawMessage(`"x"`) },
		func(i *discovery.Instance) { i.Payload = json.RawMessage(`{"id":{}}`) },
	} {
		_, _, err := discovery.SpringCodec().Encode(orders(change))
		require.Error(t, err)
	}
}

// Java turns numbers and booleans into text, and fails for objects.
func TestLabels(t *testing.T) {
	i, err := discovery.SpringCodec().Decode("orders", "a1", []byte(`{"payload":{"extra":1,"metadata":{"a":1,"t":true,"n":null},`+springClass+`}}`))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "1", "t": "true"}, i.Metadata)
	_, err = discovery.SpringCodec().Decode("orders", "a1", []byte(`{"payload":{"metadata":{"a":{}}}}`))
	require.ErrorContains(t, err, `labelled.metadata of type string`)
	_, err = discovery.DubboCodec().Decode("orders", "a1", []byte(`{"payload":{"metadata":7}}`))
	require.ErrorContains(t, err, `labelled.metadata of type map[string]`)
}

func TestSpringContextIsTheInstanceByDefault(t *testing.T) {
	_, data, err := discovery.SpringCodec().Encode(orders(func(*discovery.Instance) {}))
	require.NoError(t, err)
	require.Contains(t, string(data), `"payload":{`+springClass+`,"id":"a1","name":"orders","metadata":{"instance_status":"UP"}}`)
	_, _, err = discovery.SpringCodec().Encode(orders(func(i *discovery.Instance) { i.Payload = json.RawMessage(`7`) }))
	require.ErrorIs(t, err, zk.ErrBadArguments)
}
