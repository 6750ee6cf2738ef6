package tracing_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/gocurator/curator/recipes"
	"github.com/gocurator/curator/testing/zktest"
)

// namesOfTheCode returns the values of the constants of package semconv, by their identifiers.
func namesOfTheCode(t *testing.T) map[string]string {
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

// rowsOfTheDocumentation returns the rows of TELEMETRY.md's tables by the name
// in their first column. A name in two tables has the cells of both rows.
func rowsOfTheDocumentation(t *testing.T) map[string]string {
	text, err := os.ReadFile("TELEMETRY.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 3 || !strings.HasPrefix(cells[1], " `") { // no table, or a heading
			continue
		}
		name := strings.Trim(cells[1], " `")
		rows[name] += strings.Join(cells[2:], " ") + "\n"
	}
	return rows
}

func TestNamesAreThoseOfTheDocumentation(t *testing.T) {
	code := namesOfTheCode(t)
	values := slices.Compact(slices.Sorted(maps.Values(code)))
	require.Equal(t, values, slices.Sorted(maps.Keys(rowsOfTheDocumentation(t))))

	var source strings.Builder
	for _, pattern := range []string{"*.go", "../framework/*.go", "../recipes/*.go", "../recipes/*/*.go"} {
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
	for ident := range code {
		require.Regexp(t, `\bsemconv\.`+ident+`\b`, source.String(), "nothing uses this name")
	}
}

// everything is a story in which every metric is recorded.
func everything(s *story) *service {
	v := s.service("orders")
	held := s.must(v.mutex().Acquire(context.Background()))
	waiting := s.later(func() (*recipes.Lease, error) { return v.mutex().Acquire(context.Background()) })
	_, err := v.mutex().TryAcquire(context.Background())
	require.Error(s, err)
	s.release(held, 1500*time.Millisecond)
	<-waiting
	require.Error(s, overrun(v))
	s.srv.ExpireSession(v.client.SessionID())
	time.Sleep(5 * time.Second)
	return v
}

func TestMetricsHaveTheirDocumentedUnitsAndKinds(t *testing.T) {
	rows := rowsOfTheDocumentation(t)
	synctest.Test(t, func(t *testing.T) {
		metrics := collect(t, everything(&story{T: t, srv: zktest.New(t), words: newWords()}))
		require.Len(t, metrics, 13, "every metric of the table")
		for _, m := range metrics {
			kind := "counter"
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				kind = "histogram"
			case metricdata.Sum[int64]:
				if !data.IsMonotonic {
					kind = "updowncounter"
				}
			}
			require.NotEmpty(t, m.Description)
			require.Equal(t, []string{kind, m.Unit}, strings.Fields(rows[m.Name])[:2], m.Name)
		}
	})
}

func TestMetricsHaveNoPaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, m := range collect(t, everything(&story{T: t, srv: zktest.New(t), words: newWords()})) {
			for _, point := range pointsOf(t, m) {
				require.NotRegexp(t, `/locks|sku-42|0x|lock-0`, point, m.Name)
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

// totals returns the sums of all metrics that are numbers.
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
