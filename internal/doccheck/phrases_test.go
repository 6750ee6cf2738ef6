package doccheck

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// The list stays short: it stands for a way of writing, which no list can hold.
func TestNobodyHasToReadASentenceTwice(t *testing.T) {
	require.LessOrEqual(t, len(phrases), 15)
	texts := map[string]string{}
	for _, name := range documents(t) {
		texts[name] = read(t, name)
	}
	require.NoError(t, code(t).Phrases(texts))
}

func TestPhrases(t *testing.T) {
	tree := fstest.MapFS{
		"a/a.go": {Data: []byte(`package a

// A is told
// of the change.
const A = "in vain"

const B = 1 // that often
`)},
		"a/a_test.go": {Data: []byte("package a\n\n// B outlasts the test.\nconst C = 1\n")},
	}
	err := codeOf(t, tree).Phrases(map[string]string{"x.md": "It is made anew\nfor want of a better one."})
	require.EqualError(t, err, strings.Join([]string{
		`a/a.go:3: "told of"`, `a/a_test.go:3: "outlasts"`, `x.md: "made anew"`, `x.md: "for want of"`,
	}, "\n"))
}
