package discovery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/discovery"
)

// fuzz checks what every codec promises of any node: an error that fits into a
// line, or an instance with the name of the node. What can be written again is
// read as the same.
func fuzz(f *testing.F, codec discovery.Codec) {
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		i, err := codec.Decode("orders", name, data)
		if err != nil {
			require.True(t, printable.Is(err.Error()), "%q", err)
			require.Less(t, len(err.Error()), 1000)
			require.Zero(t, i)
			return
		}
		require.Equal(t, name, i.ID)
		require.Equal(t, "orders", i.Service)
		name, data, err = codec.Encode(i)
		if err != nil {
			require.True(t, printable.Is(err.Error()), "%q", err)
			return
		}
		again, err := codec.Decode("orders", name, data)
		require.NoError(t, err)
		name2, data2, err := codec.Encode(again)
		require.NoError(t, err)
		require.Equal(t, name, name2)
		require.Equal(t, string(data), string(data2))
	})
}

const javaNode = `{"name":"orders","id":"a1","address":"10.0.0.7","port":8080,"sslPort":8443,"payload":{"@class":"com.acme.Details","id":"application-1","name":"orders","metadata":{"instance_status":"UP","zone":"b"}},"registrationTimeUTC":1700000000123,"serviceType":"DYNAMIC","uriSpec":{"parts":[{"value":"scheme","variable":true},{"value":"://","variable":false},{"value":"address","variable":true}]},"enabled":false}`

func FuzzCuratorCodec(f *testing.F) {
	f.Add("a1", []byte(javaNode))
	f.Add("a1", []byte("\ufeff"+`{"port":"80","registrationTimeUTC":1.7E12,"serviceType":1,"uriSpec":"{scheme}://{address}","payload":["java.lang.Long",7]} x`))
	fuzz(f, discovery.CuratorCodec())
}

func FuzzSpringCodec(f *testing.F) {
	f.Add("a1", []byte(javaNode))
	f.Add("a1", []byte(`{"address":"::1","port":80.7,"payload":{"metadata":{"a":1,"instance_status":null}}}`))
	fuzz(f, discovery.SpringCodec())
}

func FuzzDubboCodec(f *testing.F) {
	f.Add("10.0.0.7:8080", []byte(javaNode))
	fuzz(f, discovery.DubboCodec())
}

func FuzzDubboInterfaceCodec(f *testing.F) {
	f.Add("tri%3A%2F%2F%5B2001%3Adb8%3A%3A7%5D%3A50051%2Fcom.acme.OrderService%3Fapplication%3Dorders%26empty%3D%26label%3Da%2520b%252Bc%252F%C3%A9%26timestamp%3D1", []byte("10.0.0.7"))
	f.Add("dubbo://u@h:1/a?dynamic=false&flag&x=a=b", []byte{})
	f.Add("dubbo://h:1/a?enabled=false", []byte{})
	fuzz(f, discovery.DubboInterfaceCodec("dubbo"))
}

func FuzzServersetCodec(f *testing.F) {
	f.Add("member_0000000007", []byte(`{"serviceEndpoint":{"host":"10.0.0.7","port":8080},"additionalEndpoints":{"http":{"host":"10.0.0.7","port":80}},"status":"ALIVE","shard":3}`))
	fuzz(f, discovery.ServersetCodec())
}
