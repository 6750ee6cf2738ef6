package recipes

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What does not fit is left out, and what leads to the trace is the last to go.
func TestTraceThatIsTooLongIsLeftOut(t *testing.T) {
	own := ownIdentity(strings.Repeat("s", 200))
	parent := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for name, tt := range map[string]struct{ trace, want map[string]string }{
		"fits":             {map[string]string{"traceparent": parent, "b3": "1"}, map[string]string{"traceparent": parent, "b3": "1"}},
		"state too long":   {map[string]string{"traceparent": parent, "tracestate": strings.Repeat("x", 400)}, map[string]string{"traceparent": parent}},
		"first is long":    {map[string]string{"a": strings.Repeat("x", 400), "traceparent": parent}, map[string]string{"traceparent": parent}},
		"all are too long": {map[string]string{"b3": strings.Repeat("x", 600)}, nil},
		"none":             {nil, nil},
	} {
		data := nodeIdentity(own, time.Now(), tt.trace)
		require.True(t, json.Valid(data), "%s: %s", name, data)
		require.LessOrEqual(t, len(data), maxIdentity, name)
		require.Equal(t, tt.want, ReadIdentity(data).Trace, name)
	}
	require.Empty(t, nodeIdentity("", time.Now(), nil), "nothing to say")
}
