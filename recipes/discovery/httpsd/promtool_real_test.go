//go:build real

package httpsd_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/exampletest"
	"github.com/gocurator/curator/recipes/discovery/httpsd"
)

// promtool returns the program of Prometheus that checks configurations: that of
// Debian's package prometheus, or another one in the PATH.
func promtool(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("promtool")
	require.NoError(t, err, "install Debian's package prometheus")
	return program
}

// scrape has Prometheus find targets, and give each service's its name as the job.
const scrape = `scrape_configs:
  - job_name: services
    http_sd_configs:
      - url: %s/targets
    relabel_configs:
      - source_labels: [__meta_zookeeper_service]
        target_label: job
`

// Prometheus itself takes the targets and their labels. Its program looks for them
// until the end of its time.
func TestPrometheusTakesTheTargets(t *testing.T) {
	program := promtool(t)
	c, srv, done := exampletest.Connect()
	t.Cleanup(done)
	fill(t, srv)
	d := services(t, c)
	require.NoError(t, d.WaitSynced(t.Context()))
	page := httptest.NewServer(httpsd.Handler(d))
	t.Cleanup(page.Close)

	file := filepath.Join(t.TempDir(), "prometheus.yml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, scrape, page.URL), 0o600))
	check := exec.CommandContext(t.Context(), program, "check", "service-discovery", "--timeout=5s", file, "services")
	check.Stderr = os.Stderr
	said, err := check.Output()
	require.NoError(t, err)
	var targets []target
	require.NoError(t, json.Unmarshal(said, &targets), string(said))
	var groups []struct {
		Targets []string
		Labels  map[string]string
	}
	require.NoError(t, json.Unmarshal([]byte(wanted), &groups))
	require.Len(t, targets, len(groups))
	for _, g := range groups {
		at := slices.IndexFunc(targets, func(one target) bool { return one.Labels["__address__"] == g.Targets[0] })
		require.NotEqual(t, -1, at, string(said))
		require.Subset(t, targets[at].DiscoveredLabels, g.Labels)
		require.Equal(t, g.Labels["__meta_zookeeper_service"], targets[at].Labels["job"])
		require.Equal(t, cmp.Or(g.Labels["__scheme__"], "http"), targets[at].Labels["__scheme__"])
	}
}

// target is what Prometheus knows of a target: before and after it has changed the
// labels.
type target struct{ DiscoveredLabels, Labels map[string]string }
