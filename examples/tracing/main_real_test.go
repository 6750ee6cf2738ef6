//go:build real

package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/examples/internal/demo"
)

// The trees show the wait and the link to the other trace. The collector that the
// environment names gets the spans.
func TestStory(t *testing.T) {
	exports := make(chan string, 10)
	user := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		exports <- r.URL.Path + " " + r.Header.Get("Api-Key")
	}))
	defer user.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", user.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret")
	var out, errs bytes.Buffer
	require.Equal(t, demo.AsExpected, demo.Run(t.Context(), "tracing", runStory, nil, &out, &errs), &errs)
	require.Empty(t, errs.String())
	const took = `[0-9.]+(µs|ms|s)`
	require.Regexp(t, `stock, trace (\w{8}), at 0s\n\nPUT /stock  `+took+"\n", &out)
	require.Regexp(t, `orders, trace \w{8}, at `+took+"\n\nPOST /orders  "+took+"\n", &out)
	require.Regexp(t, `├─ acquire sku  waited `+took+` for \S*/locks/sku-42, position 1, behind stock@\S+/\d+\n`+
		`│    link to the holder: "acquire sku" of stock, trace \w{8}\n`, &out)
	require.Regexp(t, `├─ hold sku  `+took+", released\n└─ reserve  ", &out)
	for range 2 {
		require.Equal(t, "/v1/traces secret", <-exports)
	}
}
