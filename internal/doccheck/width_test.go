package doccheck

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// narrow are the documents that are edited by hand, and have few links.
var narrow = []string{"CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/ROLLING_UPDATES.md", "docs/SUPPORT.md"}

func TestDocumentsAreNarrow(t *testing.T) {
	for _, document := range narrow {
		require.NoError(t, Narrow(read(t, document)), document)
	}
}

func TestNarrow(t *testing.T) {
	wide := strings.Repeat("word ", 16) + "x"
	for document, problem := range map[string]string{
		"text\n" + wide[2:] + "\n":                   "",
		"text\n" + wide + "\n":                       "line 2 has 81 columns",
		"| " + wide + " |\n":                         "",
		"    " + wide + "\n":                         "",
		"```go\n" + wide + "\n```\n":                 "",
		"```go\nx\n```\n" + wide + "\n":              "line 4",
		"- [" + strings.Repeat("x", 90) + "](y)\n":   "",
		"- [a](" + strings.Repeat("x", 90) + ") y\n": "line 1",
		strings.Repeat("é ", 40) + "\n":              "",
	} {
		checkProblem(t, Narrow(document), problem)
	}
}
