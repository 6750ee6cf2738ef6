package identity

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// If the entries of a trace do not all fit, the data has the entry that identifies the
// trace, or none.
func TestTraceThatIsTooLongIsLeftOut(t *testing.T) {
	own := Own(strings.Repeat("s", 200))
	parent := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for name, tt := range map[string]struct{ trace, want map[string]string }{
		"fits":             {map[string]string{"traceparent": parent, "b3": "1"}, map[string]string{"traceparent": parent, "b3": "1"}},
		"state too long":   {map[string]string{"traceparent": parent, "tracestate": strings.Repeat("x", 400)}, map[string]string{"traceparent": parent}},
		"first is long":    {map[string]string{"a": strings.Repeat("x", 400), "traceparent": parent}, map[string]string{"traceparent": parent}},
		"all are too long": {map[string]string{"b3": strings.Repeat("x", 600)}, nil},
		"none":             {nil, nil},
	} {
		data := Node(own, time.Now(), tt.trace)
		require.True(t, json.Valid(data), "%s: %s", name, data)
		require.LessOrEqual(t, len(data), maxSize, name)
		require.Equal(t, tt.want, Read(data).Trace, name)
	}
	require.Empty(t, Node("", time.Now(), nil), "nothing to say")
}

// The node's data is JSON of no more than 512 bytes, and has the entries that
// fit, whatever a propagator returns.
func TestNodeDataIsJSONWhateverTheTraceIs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []string{
		"a", "0", "é", "語", "<", `"`, `\`, "\x00", "\x7f", "\xff", "\u2028", strings.Repeat("x", 90), strings.Repeat("\x01", 30),
	}
	text := func() string {
		var b strings.Builder
		for range rng.IntN(8) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		return b.String()
	}
	isText := func(s string) bool { return s == strings.ToValidUTF8(s, "\ufffd") }
	for range 20_000 {
		trace := map[string]string{}
		for range rng.IntN(4) {
			trace[text()] = text()
		}
		if rng.IntN(2) == 0 {
			trace["traceparent"] = text()
		}
		own := ""
		if rng.IntN(3) > 0 {
			own = Own(text())
		}
		data := Node(own, time.Now(), trace)
		if data == nil {
			continue
		}
		require.LessOrEqual(t, len(data), maxSize)
		var j inNode
		require.NoError(t, json.Unmarshal(data, &j), "%s", data)
		for key, value := range trace {
			if len(trace) == 1 && value != "" && len(key)+len(value) < 20 && isText(key) && isText(value) {
				require.Equal(t, value, j.Trace[key], "%q %s", trace, data)
			}
		}
	}
}

// Read keeps entries of other writers if they can be printed.
func TestTraceOfOthersIsLegible(t *testing.T) {
	for name, tt := range map[string]struct{ written, want map[string]string }{
		"usual":       {map[string]string{"traceparent": "00-1", "tracestate": "a=b"}, map[string]string{"traceparent": "00-1", "tracestate": "a=b"}},
		"unprintable": {map[string]string{"traceparent": "\u202e00", "b\u2028": "1", "b3": "0"}, map[string]string{"b3": "0"}},
		"none left":   {map[string]string{"traceparent": "\x00"}, map[string]string{}},
	} {
		data, err := json.Marshal(map[string]any{"v": 1, "trace": tt.written})
		require.NoError(t, err)
		require.Equal(t, tt.want, Read(data).Trace, name)
	}
}
