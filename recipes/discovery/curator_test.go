package discovery_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

var registered = time.UnixMilli(1700000000123).UTC()

var plainURI = json.RawMessage(`{"parts":[{"value":"scheme","variable":true},{"value":"://","variable":false},{"value":"address","variable":true},{"value":":","variable":false},{"value":"port","variable":true}]}`)

// orders is the instance that Java wrote for these tests.
func orders(change func(*discovery.Instance)) discovery.Instance {
	i := discovery.Instance{Service: "orders", ID: "a1", Address: "10.0.0.7", Port: 8080, Registered: registered}
	change(&i)
	return i
}

// Java Curator 5.9.0 wrote these bytes, and we write the same, and read them.
func TestCuratorBytesAreJavas(t *testing.T) {
	for _, c := range []struct {
		name, bytes string
		instance    discovery.Instance
		codec       discovery.Codec
	}{
		{
			"nothing but a name", `{"name":"orders","id":"a1","address":null,"port":null,"sslPort":null,"payload":null,"registrationTimeUTC":1700000000123,"serviceType":"DYNAMIC","uriSpec":null}`,
			orders(func(i *discovery.Instance) { i.Address, i.Port = "", 0 }), discovery.CuratorCodec(),
		},
		{
			"disabled", `{"name":"orders","id":"a1","address":"10.0.0.7","port":8080,"sslPort":8443,"payload":null,"registrationTimeUTC":1700000000123,"serviceType":"STATIC","uriSpec":null,"enabled":false}`,
			orders(func(i *discovery.Instance) { i.TLSPort, i.Kind, i.Disabled = 8443, discovery.Static, true }), discovery.CuratorCodec(),
		},
		{
			"a URI", `{"name":"orders","id":"a1","address":"10.0.0.7","port":8080,"sslPort":null,"payload":"x","registrationTimeUTC":1700000000123,"serviceType":"PERMANENT","uriSpec":{"parts":[{"value":"scheme","variable":true},{"value":"://","variable":false},{"value":"address","variable":true},{"value":":","variable":false},{"value":"port","variable":true}]}}`,
			orders(func(i *discovery.Instance) {
				i.Payload, i.Kind, i.URISpec = json.RawMessage(`"x"`), discovery.Permanent, plainURI
			}), discovery.CuratorCodec(),
		},
	} {
		t.Run(c.name, func(t *testing.T) { requireBothWays(t, c.codec, c.instance, "a1", c.bytes) })
	}
}

// requireBothWays checks what a codec writes, and that it reads the same.
func requireBothWays(t *testing.T, c discovery.Codec, i discovery.Instance, name, data string) {
	t.Helper()
	gotName, gotData, err := c.Encode(i)
	require.NoError(t, err)
	require.Equal(t, name, gotName)
	require.Equal(t, data, string(gotData))
	got, err := c.Decode(i.Service, name, []byte(data))
	require.NoError(t, err)
	require.Equal(t, i, got)
}

// Each line is what Java Curator 5.9.0 was seen to read.
func TestCuratorReadsWhatJavaReads(t *testing.T) {
	const b = `"name":"orders","id":"a1","address":"10.0.0.7","port":8080,"sslPort":null`
	plain := discovery.Instance{Service: "orders", ID: "a1", Address: "10.0.0.7", Port: 8080}
	with := func(change func(*discovery.Instance)) discovery.Instance {
		i := plain
		change(&i)
		return i
	}
	empty := discovery.Instance{Service: "orders", ID: "a1"}
	for name, c := range map[string]struct {
		data string
		want discovery.Instance
	}{
		"empty object":       {`{}`, empty},
		"enabled is missing": {`{` + b + `}`, plain},
		"enabled":            {`{` + b + `,"enabled":true}`, plain},
		"enabled is null":    {`{` + b + `,"enabled":null}`, with(func(i *discovery.Instance) { i.Disabled = true })},
		"port is a string":   {`{"port":"80"}`, discovery.Instance{Service: "orders", ID: "a1", Port: 80}},
		"port is empty":      {`{"port":"","registrationTimeUTC":""}`, empty},
		"port is a fraction": {`{"port":80.7}`, discovery.Instance{Service: "orders", ID: "a1", Port: 80}},
		"time is a string":   {`{"registrationTimeUTC":"1700000000123"}`, discovery.Instance{Service: "orders", ID: "a1", Registered: registered}},
		"time is a float":    {`{"registrationTimeUTC":1.700000000123E12}`, discovery.Instance{Service: "orders", ID: "a1", Registered: registered}},
		"unknown field":      {`{` + b + `,"zzz":{"a":1}}`, plain},
		"keys twice":         {`{"port":1,` + b + `,"port":9090}`, with(func(i *discovery.Instance) { i.Port = 9090 })},
		"other name and id":  {`{"name":"o","id":"OTHER","port":80}`, discovery.Instance{Service: "orders", ID: "a1", Port: 80}},
		"name and id null":   {`{"name":null,"id":null}`, empty},
		"port is 0":          {`{"port":0}`, empty},
		"type null":          {`{"serviceType":null}`, empty},
		"type is the last":   {`{"serviceType":"DYNAMIC_SEQUENTIAL"}`, discovery.Instance{Service: "orders", ID: "a1", Kind: discovery.DynamicSequential}},
		"time is null":       {`{"registrationTimeUTC":null}`, empty},
		"URI is a text":      {`{` + b + `,"uriSpec":"{scheme}://{address}"}`, with(func(i *discovery.Instance) { i.URISpec = json.RawMessage(`"{scheme}://{address}"`) })},
		"blanks":             {" \r\n\t{" + b + ` } `, plain},
		"null payload":       {`{` + b + `,"payload":null}`, plain},
		"array as payload":   {`{"payload":[1,2]}`, discovery.Instance{Service: "orders", ID: "a1", Payload: json.RawMessage(`[1,2]`)}},
		"brackets":           {`{"address":"[::1]"}`, discovery.Instance{Service: "orders", ID: "a1", Address: "::1"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := discovery.CuratorCodec().Decode("orders", "a1", []byte(c.data))
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

// What is malformed is an error that says so.
func TestCuratorSaysWhatIsMalformed(t *testing.T) {
	for data, text := range map[string]string{
		`10.0.0.7`:               `no JSON object: 10.0.0.7`,
		`null`:                   `no JSON object: null`,
		`[]`:                     `no JSON object: []`,
		`{"name":`:               `unexpected end of JSON input`,
		"a\u202eb":               `no JSON object: "a\u202eb"`,
		"{\"address\":\"\xff\"}": `not UTF-8`,
		`{"address":{}}`:         `javaInstance.address of type string`,
		`{"port":"x"}`:           `invalid number literal`,
		`{"port":1e999}`:         `value out of range`,
		`{"sslPort":true}`:       `javaInstance.sslPort of type json.Number`,
		`{"port":65536}`:         `invalid port "65536": must be from 1 to 65535`,
		`{"port":-1}`:            `invalid port "-1": must be from 1 to 65535`,
		`{"serviceType":"FOO"}`:  `serviceType is no kind of service: FOO`,
		`{"enabled":"maybe"}`:    `javaInstance.enabled of type bool`,
	} {
		t.Run(data, func(t *testing.T) {
			_, err := discovery.CuratorCodec().Decode("orders", "a1", []byte(data))
			require.ErrorContains(t, err, text)
			require.NotErrorIs(t, err, discovery.ErrNotInstance)
		})
	}
}

// A parent has no data, and is no instance.
func TestNodeWithoutDataIsNoInstance(t *testing.T) {
	for _, c := range []discovery.Codec{
		discovery.CuratorCodec(), discovery.SpringCodec(), discovery.DubboCodec(), discovery.ServersetCodec(),
	} {
		for _, data := range [][]byte{nil, {}, []byte(" ")} {
			_, err := c.Decode("orders", "member_1", data)
			require.ErrorIs(t, err, discovery.ErrNotInstance)
		}
	}
}

// CuratorCodec reads the nodes of three writers, and who of them drains.
func TestCuratorCodecReadsThree(t *testing.T) {
	all := discovery.CuratorCodec()
	i := discovery.Instance{
		Service: "orders", ID: "10.0.0.7:80", Address: "10.0.0.7", Port: 80, Metadata: map[string]string{"zone": "b"},
	}
	draining := i
	draining.Disabled = true
	for _, c := range []struct {
		format   string
		codec    discovery.Codec
		instance discovery.Instance
	}{
		{"spring", discovery.SpringCodec(), i}, {"spring", discovery.SpringCodec(), draining},
		{"dubbo", discovery.DubboCodec(), i},
		{"curator", discovery.CuratorCodec(), i}, {"curator", discovery.CuratorCodec(), draining},
	} {
		name, data, err := c.codec.Encode(c.instance)
		require.NoError(t, err)
		want, err := c.codec.Decode("orders", name, data)
		require.NoError(t, err)
		got, err := all.Decode("orders", name, data)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, c.instance.Disabled, got.Disabled, c.format)
		require.Equal(t, c.format, discovery.FormatOf(got))
	}
	i.Payload = []byte(`["java.lang.Long",7]`)
	require.Equal(t, "curator", discovery.FormatOf(i))
}
