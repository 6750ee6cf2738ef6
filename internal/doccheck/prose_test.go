package doccheck

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// These folders have more places than their share. Lower a number after mending
// some, and never raise one.
var unmended = map[string]int{}

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
