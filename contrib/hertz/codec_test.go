package hertz

import (
	"testing"

	"github.com/cloudwego/hertz/pkg/app/server/registry"
	"github.com/cloudwego/hertz/pkg/common/utils"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

// These are the bytes that hertz-contrib/registry at 8a22033 writes for the instances
// in its tests.
func TestCodecWritesTheirBytes(t *testing.T) {
	for address, c := range map[string]struct {
		tags map[string]string
		want string
	}{
		"10.0.0.7:9999": {
			map[string]string{"group": "<blue>", "idc": "hd1"}, `{"Weight":100,"Tags":{"group":"<blue>","idc":"hd1"}}`,
		},
		"[2001:db8::7]:9999": {nil, `{"Weight":100,"Tags":null}`},
	} {
		i, err := NewRegistry(nil).instanceOf(&registry.Info{
			ServiceName: "product", Addr: utils.NewNetAddr("tcp", address), Weight: 100, Tags: c.tags,
		})
		require.NoError(t, err)
		name, data, err := theirs.Encode(i)
		require.NoError(t, err)
		require.Equal(t, address, name)
		require.Equal(t, c.want, string(data))
		got, err := theirs.Decode("product", name, data)
		require.NoError(t, err)
		require.Equal(t, i, got)
		require.Equal(t, 100, weightOf(got))
	}
}

// Their readers take the names of the fields in any case of letters.
func TestCodecReadsOtherWriters(t *testing.T) {
	for data, weight := range map[string]int{
		`{"weight":7,"TAGS":{"a":"b"},"x":1}`:    7,
		`{"Tags":{"a":"b"}}`:                     0,
		`{"Weight":1000000000,"Tags":{"a":"b"}}`: maxWeight,
	} {
		i, err := theirs.Decode("orders", "web-1:80", []byte(data))
		require.NoError(t, err)
		require.Equal(t, "web-1", i.Address)
		require.Equal(t, 80, i.Port)
		require.Equal(t, map[string]string{"a": "b"}, i.Metadata)
		require.Equal(t, weight, weightOf(i))
	}
	for _, data := range []string{"10.0.0.7", `{"Weight":"7"}`, `{"Tags":[]}`, `{"Weight":1} x`} {
		_, err := theirs.Decode("orders", "web-1:80", []byte(data))
		require.ErrorContains(t, err, "no weight and tags: ", data)
	}
	for _, name := range []string{"web-1", ":80", "web-1:", "web-1:0", "web-1:65536", "web-1:-1", "2001:db8::7:80"} {
		_, err := theirs.Decode("orders", name, []byte(`{"Weight":10}`)) // Kitex writes the last one, and does not read it
		require.ErrorContains(t, err, "no address:port: ", name)
	}
	_, err := theirs.Decode("orders", "sub", nil)
	require.ErrorIs(t, err, discovery.ErrNotInstance)
}
