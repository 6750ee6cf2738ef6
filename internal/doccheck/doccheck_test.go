package doccheck

import (
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// repository is the tree that holds this package.
func repository() fs.FS { return os.DirFS("../..") }

// code returns what is in the repository, which is read once.
func code(t *testing.T) *Code {
	t.Helper()
	c, err := readOnce()
	require.NoError(t, err)
	return c
}

var readOnce = sync.OnceValues(func() (*Code, error) { return Read(repository()) })

func codeOf(t *testing.T, tree fs.FS) *Code {
	t.Helper()
	c, err := Read(tree)
	require.NoError(t, err)
	return c
}

func read(t *testing.T, name string) string {
	t.Helper()
	return readFrom(t, repository(), name)
}

func readFrom(t *testing.T, tree fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(tree, name)
	require.NoError(t, err)
	return string(text)
}

// Tests of the snippets are in files named readme_*_test.go and
// example_readme_test.go.
func TestGoBlocksOfDocumentsAreTested(t *testing.T) {
	var texts []string
	require.NoError(t, fs.WalkDir(repository(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && strings.Contains(entry.Name(), "readme_") && strings.HasSuffix(name, "_test.go") {
			texts = append(texts, read(t, name))
		}
		return err
	}))
	for _, document := range documents(t) {
		require.NoError(t, Snippets(read(t, document), texts), document)
	}
}

// documents returns the names of all Markdown files.
func documents(t *testing.T) (names []string) {
	t.Helper()
	require.NoError(t, fs.WalkDir(repository(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".git" {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(name, ".md") {
			names = append(names, name)
		}
		return err
	}))
	require.NotEmpty(t, names)
	return names
}

func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	for _, document := range documents(t) {
		require.NoError(t, Links(repository(), document))
	}
}

// elsewhere are packages of others whose names are in the documents.
var elsewhere = []string{
	"context", "errors", "fs", "net", "http", "os", "signal", "synctest", "tls", "x509", "curator", "zk",
	"asynq", "gocron", "goose", "grpc", "kratos", "loadbalance", "migrate", "persist",
}

// TELEMETRY has attributes, and GUARANTEES has tests, which package guarantees looks
// for.
func TestDocumentsNameWhatExists(t *testing.T) {
	for _, document := range documents(t) {
		if document == "tracing/TELEMETRY.md" || document == "docs/GUARANTEES.md" {
			continue
		}
		require.NoError(t, code(t).Names(document, elsewhere...))
	}
}

func TestSnippets(t *testing.T) {
	code := "package a_test\n\nimport \"b\"\n\nfunc main() {\n\tb.C()\n\tb.D()\n}\n"
	for document, problem := range map[string]string{
		"text\n```go\npackage main\n\nimport \"b\"\n\nfunc main() {\n\tb.C()\n\tb.D()\n}\n```\n": "",
		"```go\nb.C()\nb.D()\n```\n":                "",
		"```go\nb.D()\n```\n\n```go\nb.D(1)\n```\n": "b.D(1)",
		"```go\nb.D()\nb.C()\n```\n":                "no test file",
		"```go\nD()\n```\n":                         "no test file",
		"```\nb.D()\n```\n":                         "",
	} {
		checkProblem(t, Snippets(document, []string{"package other\n", code}), problem)
	}
}

func TestLinks(t *testing.T) {
	tree := fstest.MapFS{"d/other.md": {Data: []byte("# It's one heading\n")}, "d/e/e.go": {}}
	for text, problem := range map[string]string{
		"[a](other.md), [b](e), [c](https://x.org/none)":  "",
		"[a](other.md#its-one-heading)":                   "",
		"## Here\n\n[a](#here)":                           "",
		"[a](../d/none.md)":                               "none.md",
		"[a](other.md#none)":                              "no heading #none",
		"![a](other.md) <img src=\"other.md\" alt=\"b\">": "",
		"<img src=\"none.png\" alt=\"b\">":                "none.png",
		"<source srcset=\"none.png\">":                    "none.png",
		"![](other.md)":                                   "without words",
		"<img src=\"other.md\" width=\"9\">":              "without words",
		"<img alt=\"\" src=\"other.md\">":                 "without words",
	} {
		tree["d/doc.md"] = &fstest.MapFile{Data: []byte(text)}
		checkProblem(t, Links(tree, "d/doc.md"), problem)
	}
}

// checkProblem fails unless an error contains the text, or there is none and
// the text is empty.
func checkProblem(t *testing.T, err error, problem string) {
	t.Helper()
	if problem == "" {
		require.NoError(t, err)
		return
	}
	require.ErrorContains(t, err, problem)
}

func TestCommentsNameWhatExists(t *testing.T) {
	require.NoError(t, code(t).References())
}

func TestReferences(t *testing.T) {
	tree := fstest.MapFS{
		"a/a.go":   {Data: []byte("package a\n\ntype T[K any] struct{ F int }\n\nfunc (*T[K]) M() {}\n\ntype I interface{ N() }\n\nconst C = 1\n")},
		"b/doc.go": {Data: []byte("// Package b has more below it.\npackage b\n")}, "b/c/c.go": {Data: []byte("package c\n\nvar V int\n")},
		"cmd/d/d.go": {Data: []byte("package d\n")},
	}
	for comment, problem := range map[string]string{
		"a.T, a.T.F, a.T.M, a.I.N and (a.C); package a": "",
		"x.Y, zk.ErrNoNode, d.Z, path/a.X, e.g. A":      "",
		"see package b/c, and c.V":                      "",
		"see a.T.Gone":                                  "e/e.go:1: a.T.Gone does not exist",
		"see a.Gone":                                    "a.Gone does not exist",
		"see package b":                                 "package b has nothing to use",
	} {
		tree["e/e.go"] = &fstest.MapFile{Data: []byte("// " + comment + "\npackage e\n")}
		checkProblem(t, codeOf(t, tree).References(), problem)
	}
}
