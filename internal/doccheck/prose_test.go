package doccheck

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// These folders have more places than their share. Lower a number after mending
// some, and never raise one.
var unmended = map[string]int{
	"cmd/zkfake":                       5,
	"cmd/zklock":                       22,
	"cmd/zklock/internal/child":        25,
	"cmd/zklock/internal/cli":          12,
	"cmd/zklock/internal/columns":      1,
	"cmd/zklock/internal/view":         12,
	"debug/curatorz":                   2,
	"debug/internal/brief":             1,
	"debug/snapshot":                   25,
	"examples/config":                  3,
	"examples/deadlock":                1,
	"examples/flashsale":               6,
	"examples/herd":                    4,
	"examples/internal/demo":           2,
	"examples/leader":                  4,
	"examples/workers":                 3,
	"framework":                        116,
	"framework/clienttrace":            3,
	"framework/internal/connstate":     1,
	"framework/internal/proto":         13,
	"framework/internal/teller":        1,
	"framework/internal/transport":     20,
	"internal/compatibility":           3,
	"internal/doccheck":                2,
	"internal/flight":                  22,
	"internal/floors":                  3,
	"internal/guarantees":              1,
	"internal/hooks":                   1,
	"internal/leadertest":              3,
	"internal/licenses":                1,
	"internal/mutants":                 4,
	"internal/pauses":                  2,
	"internal/semconv":                 10,
	"recipes":                          1,
	"recipes/atomic":                   26,
	"recipes/barriers":                 45,
	"recipes/cache":                    27,
	"recipes/codec":                    1,
	"recipes/inspect":                  38,
	"recipes/internal/claim":           12,
	"recipes/internal/follow":          3,
	"recipes/internal/lockloop":        25,
	"recipes/internal/queue":           22,
	"recipes/internal/trace":           8,
	"recipes/leader":                   14,
	"recipes/locks":                    28,
	"recipes/locktrace":                3,
	"recipes/nodes":                    46,
	"recipes/shared":                   11,
	"retry":                            2,
	"testing/curatortest":              1,
	"testing/interop":                  2,
	"testing/zkserver":                 11,
	"testing/zktest":                   81,
	"testing/zktest/internal/datatree": 1,
	"testing/zktest/internal/wire":     4,
	"tracing":                          8,
}

func TestCommentsAreReadable(t *testing.T) {
	require.NoError(t, Readable(code(t).Prose(), unmended))
}

func TestProse(t *testing.T) {
	tree := fstest.MapFS{
		"a/a.go": {Data: []byte(`// Package a is good. It is that of nobody.
package a

// T has fields, of which one counts.
type T struct {
	A int // of the loop
	B int // the loop's
	C int // ends: when?

	// of the file, but in front of code
	D int
} // behind the type

//go:generate true
`)},
		"a/a_test.go": {Data: []byte("package a\n\n// those of, of\n")},
	}
	p := codeOf(t, tree).Prose()["a"]
	require.Equal(t, []int{4, 9, 7}, []int{p.Trailing, p.Sentences, p.Lines})
	require.Equal(t, []Place{
		{"that-of", "a/a.go:1", "Package a is good. It is that of nobody."},
		{"comma-of", "a/a.go:4", "T has fields, of which one counts."},
		{"fragment", "a/a.go:6", "of the loop"},
		{"fragment", "a/a.go:8", "ends: when?"},
		{"fragment", "a/a.go:12", "behind the type"},
	}, p.Places)
}

func TestReadable(t *testing.T) {
	place := func(kind string) Place { return Place{kind, "a.go:1", "text"} }
	many := &Prose{Trailing: 20, Sentences: 100, Lines: 100, Places: []Place{place("fragment"), place("fragment")}}
	few := &Prose{Trailing: 25, Sentences: 100, Lines: 100, Places: []Place{place("fragment"), place("fragment"), place("that-of")}}
	comma := &Prose{Lines: 3300, Places: []Place{place("comma-of")}}
	for _, c := range []struct {
		prose    *Prose
		unmended int
		problem  string
	}{
		{many, 0, "a has 2 such places, and may have 0"},
		{many, 1, "a.go:1: fragment: text"},
		{many, 2, ""},
		{few, 0, ""},
		{comma, 0, "comma-of"},
	} {
		checkProblem(t, Readable(map[string]*Prose{"a": c.prose}, map[string]int{"a": c.unmended}), c.problem)
	}
}
