// Package deploy tests the files of the folder deploy, which users copy.
package deploy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const folder = "../../../deploy"

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	require.NoError(t, err)
	return string(text)
}

// Grafana's own types refuse fields that the schema of dashboards does not have.
func TestDashboardFollowsGrafanasSchema(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	check := func(text string) error {
		var d dashboard.Dashboard                                                        //nolint:staticcheck // the first schema, which every Grafana imports
		if err := d.UnmarshalJSONStrict([]byte(text)); err != nil && err.Error() != "" { // no errors are a typed nil
			return err
		}
		return d.Validate()
	}
	text := read(t, "dashboard.json")
	require.NoError(t, check(text))
	require.ErrorContains(t, check(strings.Replace(text, "gridPos", "gridPosition", 1)), "gridPosition")
}

func TestYAMLFilesAreYAML(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(folder, "*.yml"))
	require.NoError(t, err)
	require.Len(t, names, 4)
	for _, name := range names {
		decoder := yaml.NewDecoder(strings.NewReader(read(t, filepath.Base(name))))
		for n := 0; ; n++ {
			var document map[string]any
			err := decoder.Decode(&document)
			if errors.Is(err, io.EOF) {
				require.Positive(t, n, name)
				break
			}
			require.NoError(t, err, name)
			require.NotEmpty(t, document, name)
		}
	}
}

// All servers of the ensemble have the same list of servers, and each has a number.
func TestComposeFileHasAnEnsembleOfThree(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Image       string
			Hostname    string
			Environment map[string]string
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "compose.yml")), &compose))
	require.Len(t, compose.Services, 3)
	for name, server := range compose.Services {
		require.Equal(t, "zookeeper:3.9", server.Image)
		require.Equal(t, name, server.Hostname)
		require.Contains(t, server.Environment["ZOO_SERVERS"], "server."+server.Environment["ZOO_MY_ID"]+"="+name+":")
	}
}

// The rules and the dashboard ask for metrics and labels that package tracing makes, by
// the names that they have in Prometheus.
func TestMetricsOfRulesAndDashboardExist(t *testing.T) {
	known := prometheusNames(t)
	for _, name := range []string{"alerts.yml", "alerts_test.yml", "dashboard.json"} {
		used := regexp.MustCompile(`\b(?:curator|db)_\w+`).FindAllString(read(t, name), -1)
		require.NotEmpty(t, used, name)
		for _, metric := range used {
			require.Contains(t, known, metric, name)
		}
	}
}

// prometheusNames translates the names in TELEMETRY as OpenTelemetry's exporters do.
func prometheusNames(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../../tracing/TELEMETRY.md")
	require.NoError(t, err)
	known := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z._]+)` \\|([^|]*)\\|([^|\n]*)").FindAllStringSubmatch(string(text), -1) {
		name, kind, unit := strings.ReplaceAll(row[1], ".", "_"), strings.TrimSpace(row[2]), strings.TrimSpace(row[3])
		if unit == "s" {
			name += "_seconds"
		}
		switch kind {
		case "counter":
			known[name+"_total"] = true
		case "histogram":
			known[name+"_bucket"], known[name+"_count"], known[name+"_sum"] = true, true, true
		default: // a gauge, or an attribute
			known[name] = true
		}
	}
	require.Greater(t, len(known), 50)
	return known
}

// expressions returns the PromQL of the dashboard, with its variables filled in.
func expressions(t *testing.T) (all []string) {
	t.Helper()
	var board struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	require.NoError(t, json.NewDecoder(bytes.NewBufferString(read(t, "dashboard.json"))).Decode(&board))
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			all = append(all, strings.NewReplacer("$job", ".*", "$__rate_interval", "5m").Replace(target.Expr))
		}
	}
	require.NotEmpty(t, all)
	return all
}
