package tracing_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/gocurator/curator/testing/zktest"
)

// semconvNames returns the values of package semconv's constants by their
// identifiers.
func semconvNames(t *testing.T) map[string]string {
	file, err := parser.ParseFile(token.NewFileSet(), "../internal/semconv/semconv.go", nil, 0)
	require.NoError(t, err)
	names := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			names[spec.Names[0].Name] = value
		}
		return true
	})
	return names
}

// documentedRows returns the rows of TELEMETRY.md's tables by the name in their
// first column. A name in two tables has the cells of both rows.
func documentedRows(t *testing.T) map[string]string {
	text, err := os.ReadFile("TELEMETRY.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		// Not in a table, or a heading.
		if len(cells) < 3 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		name := strings.Trim(cells[1], " `")
		rows[name] += strings.Join(cells[2:], " ") + "\n"
	}
	return rows
}

func TestNamesMatchTheDocumentation(t *testing.T) {
	code := semconvNames(t)
	values := slices.Compact(slices.Sorted(maps.Values(code)))
	require.Equal(t, values, slices.Sorted(maps.Keys(documentedRows(t))))

	var source strings.Builder
	for _, pattern := range []string{"*.go", "../framework/*.go", "../framework/internal/*/*.go", "../recipes/*.go", "../recipes/*/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				source.Write(text)
			}
		}
	}
	used := map[string]bool{}
	for _, name := range regexp.MustCompile(`\bsemconv\.\w+`).FindAllString(source.String(), -1) {
		used[strings.TrimPrefix(name, "semconv.")] = true
	}
	for ident := range code {
		require.True(t, used[ident], "nothing uses %s", ident)
	}
}

// recordEveryMetric plays a scenario that records every metric.
func recordEveryMetric(s *story) *service {
	v, other := s.service("orders"), s.service("stock")
	held := s.must(other.mutex().Acquire(context.Background()))
	waiting := s.inBackground(context.Background(), v.mutex().Acquire)
	behind := s.inBackground(context.Background(), v.mutex().Acquire)
	_, err := v.mutex().TryAcquire(context.Background())
	require.Error(s, err)
	s.release(held, 1500*time.Millisecond)
	s.release(<-waiting, 0)
	<-behind
	require.Error(s, runOverrun(v))
	s.conflictingNode(v)
	s.openCache(v)
	s.discover(v)
	s.changeAtomics(v)
	s.changeShared(v)
	s.meetAtBarriers(v)
	s.srv.Session(v.client.SessionID()).Expire()
	time.Sleep(5 * time.Second)
	return v
}

func TestMetricsHaveTheirDocumentedUnitsAndKinds(t *testing.T) {
	rows, documented := documentedRows(t), 0
	for _, row := range rows {
		if regexp.MustCompile(`^ (counter|updowncounter|histogram|gauge) `).MatchString(row) {
			documented++
		}
	}
	synctest.Test(t, func(t *testing.T) {
		metrics := collect(t, recordEveryMetric(&story{T: t, srv: zktest.Start(t), names: newNormalizer()}))
		require.Len(t, metrics, documented, "every metric of the table")
		for _, m := range metrics {
			kind := "counter"
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				kind = "histogram"
			case metricdata.Sum[int64]:
				if !data.IsMonotonic {
					kind = "updowncounter"
				}
			case metricdata.Gauge[int64], metricdata.Gauge[float64]:
				kind = "gauge"
			}
			require.NotEmpty(t, m.Description)
			require.Equal(t, []string{kind, m.Unit}, strings.Fields(rows[m.Name])[:2], m.Name)
		}
	})
}

func TestMetricsHaveNoPaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &story{T: t, srv: zktest.Start(t), names: newNormalizer()}
		for _, m := range collect(t, recordEveryMetric(s)) {
			for _, point := range pointsOf(t, m) {
				require.NotRegexp(t, `/locks|sku-42|0x|lock-0|/registry`, point, m.Name)
			}
		}
	})
}

func collect(t *testing.T, v *service) []metricdata.Metrics {
	var all metricdata.ResourceMetrics
	require.NoError(t, v.meter.Collect(context.Background(), &all))
	require.Len(t, all.ScopeMetrics, 1)
	require.Equal(t, "github.com/gocurator/curator/tracing", all.ScopeMetrics[0].Scope.Name)
	require.NotEmpty(t, all.ScopeMetrics[0].Scope.Version)
	return all.ScopeMetrics[0].Metrics
}

// totals returns, for every metric that is a number, the sum of its points.
func (v *service) totals(t *testing.T) map[string]int {
	sums := map[string]int{}
	for _, m := range collect(t, v) {
		if data, ok := m.Data.(metricdata.Sum[int64]); ok {
			for _, p := range data.DataPoints {
				sums[m.Name] += int(p.Value)
			}
		}
	}
	return sums
}
