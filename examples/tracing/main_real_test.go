//go:build real

package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkserver"
)

// TestMain turns the test binary into a service if the program under test has
// started it as one.
func TestMain(m *testing.M) {
	if isService(os.Args) {
		os.Exit(serviceMain(os.Args[2:]))
	}
	if os.Getenv("GORACE") == "" {
		// Otherwise each service under the race detector waits a second at its
		// end.
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	thorough.Parallel(8)
	leaktest.Main(m)
}

// program runs the program with real service processes.
func runProgram(t *testing.T, ctx context.Context, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(ctx, args, &out, &errs)
	t.Logf("tracing %s: %d\n%s%s", strings.Join(args, " "), status, &out, &errs)
	return status, out.String(), errs.String()
}

// slow returns a time to hold the lock. It is long enough that the order finds
// the lock held. The machine may be busy.
const slow = "4s"

// requireStory requires that the trees show the wait and the link to the other
// trace.
func requireStory(t *testing.T, out string) {
	t.Helper()
	const word, took = `\S+`, `[0-9.]+(ms|s)`
	require.Regexp(t, `stock, trace (\w{8}), at 0s\n\nPUT /stock  `+took+"\n", out)
	require.Regexp(t, `orders, trace \w{8}, at `+took+"\n\nPOST /orders  "+took+"\n", out)
	require.Regexp(t, `├─ acquire sku  waited `+took+` for \S*/locks/sku-42, position 1, behind stock@\S+/\d+\n`+
		`│    link to the holder: "acquire sku" of stock, trace \w{8}\n`, out)
	require.Regexp(t, `\+`+took+` +handed over by stock@\S+/\d+, `+word+` after we heard of it\n`, out)
	require.Regexp(t, `├─ hold sku  `+took+", released\n└─ count  ", out)
	require.Regexp(t, `├─ hold sku  `+took+", released\n└─ reserve  ", out)
	require.NotContains(t, out, "error")
}

func TestStory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "trace.svg")
	status, out, errs := runProgram(t, t.Context(), "-hold", slow, "-svg", file)
	require.Equal(t, done, status)
	require.Empty(t, errs)
	requireStory(t, out)
	require.True(t, strings.HasSuffix(out, "\ndrawn in "+file+"\n"))
	require.LessOrEqual(t, strings.Count(out, "\n"), 25, "one screen")
	svg, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Subset(t, textsOf(t, svg), []string{"stock", "orders", "acquire sku", "hold sku"})
	require.Contains(t, string(svg), "link to the holder")
}

// The user's collector gets the spans of both services, as the environment
// configures it.
func TestExport(t *testing.T) {
	var spans collector
	user := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/traces" || r.Header.Get("Api-Key") != "secret" {
			http.Error(w, "not for us", http.StatusForbidden)
			return
		}
		spans.ServeHTTP(w, r)
	}))
	defer user.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", user.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret")
	// Does not apply to the services, whose spans are printed.
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	status, out, errs := runProgram(t, t.Context(), "-hold", slow)
	require.Equal(t, done, status)
	require.Empty(t, errs)
	requireStory(t, out)
	require.Contains(t, out, "\nsent to "+user.URL+"\n")
	var again bytes.Buffer
	printTraces(&again, tracesOf(spans.all()))
	require.True(t, strings.HasPrefix(out, again.String()), again.String())

	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "")
	status, _, errs = runProgram(t, t.Context(), "-hold", "200ms")
	require.Equal(t, failed, status)
	require.Contains(t, errs, "403")
}

// On a real server the output is the same, and nothing is left there.
func TestRealServer(t *testing.T) {
	t.Parallel()
	srv := zkserver.Start(t)
	status, out, _ := runProgram(t, t.Context(), "-hold", slow, "-servers", srv.Addr()+"/")
	require.Equal(t, done, status)
	requireStory(t, out)
	client, err := framework.New(srv.Addr())
	require.NoError(t, err)
	defer client.Close()
	left, _, err := client.Children(t.Context(), "/tracing")
	// The server has already removed the container. It looks for empty
	// containers once a minute.
	if !errors.Is(err, zk.ErrNoNode) {
		require.NoError(t, err)
	}
	require.Empty(t, left)
}
