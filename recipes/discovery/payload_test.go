package discovery_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

func withPayload(payload string) discovery.Instance {
	return orders(func(i *discovery.Instance) { i.Payload = json.RawMessage(payload) })
}

// Java wrote these payloads. They are read and written back byte by byte.
func TestPayloadIsKeptAsItIs(t *testing.T) {
	for _, payload := range []string{
		`["java.lang.Long",7]`, `["java.lang.Float",7.5]`, `["[B","AQI="]`, `["java.util.ArrayList",["a",1]]`, `{"@class":"java.util.HashMap"}`,
		`{"@class":"Dump$Shop","city":"Ulm","n":3,"big":5000000000,"none":null,"tags":["a","b"],"m":{"k":1,"z":"y"}}`,
		`7.0`, `1.0E7`, `"text"`, `true`, `{"id":"i"}`, `"<&>\u001F` + "\u2028" + `"`,
	} {
		t.Run(payload, func(t *testing.T) {
			codec := discovery.CuratorCodec()
			name, data, err := codec.Encode(withPayload(payload))
			require.NoError(t, err)
			require.Contains(t, string(data), `"payload":`+payload+`,"registrationTimeUTC"`)
			got, err := codec.Decode("orders", name, data)
			require.NoError(t, err)
			require.Equal(t, payload, string(got.Payload))
			_, again, err := codec.Encode(got)
			require.NoError(t, err)
			require.Equal(t, string(data), string(again))
		})
	}
}

// Java's readers would fail for the whole service.
func TestPayloadThatJavaCannotReadIsRefused(t *testing.T) {
	for _, payload := range []string{`[1,2]`, `[]`, `["a"]`, `["a",1,2]`, `{"@class":7}`, `{"a":1`, `x`, "\"\xff\""} {
		t.Run(payload, func(t *testing.T) {
			_, _, err := discovery.CuratorCodec().Encode(withPayload(payload))
			require.ErrorIs(t, err, zk.ErrBadArguments)
			require.ErrorContains(t, err, "invalid payload ")
		})
	}
	long := `["` + strings.Repeat("a", 1000)
	_, _, err := discovery.CuratorCodec().Encode(withPayload(long))
	require.Less(t, len(err.Error()), 150)
}

func TestPayloadOf(t *testing.T) {
	type details struct {
		Class  string `json:"@class"`
		Weight int    `json:"weight"`
	}
	requirePayload(t, `{"@class":"com.acme.Details","weight":7}`, details{"com.acme.Details", 7})
	requirePayload(t, `["com.acme.Details",{"weight":7}]`, details{Weight: 7})
	requirePayload(t, ` ["java.lang.Long",7]`, int64(7))
	requirePayload(t, `["[B","AQI="]`, []byte{1, 2})
	requirePayload(t, `["java.util.ArrayList",["a","b"]]`, []string{"a", "b"})
	requirePayload(t, `"text"`, "text")
	requirePayload(t, `["com.acme.Details",{"weight":7}]`, json.RawMessage(`{"weight":7}`))
	requirePayload(t, ``, details{})
	requirePayload(t, `null`, details{})
}

func requirePayload[T any](t *testing.T, payload string, want T) {
	t.Helper()
	got, err := discovery.PayloadOf[T](withPayload(payload))
	require.NoError(t, err)
	require.Equal(t, want, got)
}
