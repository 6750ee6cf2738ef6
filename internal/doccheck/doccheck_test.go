package doccheck

import (
	"io/fs"
	"os"
	"slices"
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
	for _, document := range slices.Concat([]string{"README.md", "docs/PRODUCTION.md", "contrib/README.md"}, ofContrib("README.md"), guides) {
		require.NoError(t, Snippets(read(t, document), texts))
	}
}

func TestContributingHasTheDependenciesOfGoMod(t *testing.T) {
	var texts []string
	for _, name := range goMods(t) {
		texts = append(texts, read(t, name))
	}
	require.NoError(t, Dependencies(read(t, "CONTRIBUTING.md"), texts...))
}

// goMods returns the go.mod files of the repository.
func goMods(t *testing.T) []string {
	t.Helper()
	below, err := fs.Glob(repository(), "contrib/*/go.mod")
	require.NoError(t, err)
	require.NotEmpty(t, below)
	return append([]string{"go.mod"}, below...)
}

func TestWorkspaceHasAllModules(t *testing.T) {
	require.NoError(t, Workspace(read(t, "go.work"), goMods(t)))
	checkProblem(t, Workspace("use (\n\t.\n\t./contrib/ab\n)\n", []string{"go.mod", "contrib/a/go.mod"}), "does not use ./contrib/a")
}

func TestContributingHasTheFoldersOfTheCode(t *testing.T) {
	require.NoError(t, House(read(t, "CONTRIBUTING.md"), repository()))
}

var documents = []string{
	"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "ARCHITECTURE.md", "SECURITY.md", "examples/README.md",
	"contrib/README.md",
	"docs/SUPPORT.md", "docs/PRODUCTION.md", "docs/ROLLING_UPDATES.md", "docs/COMPATIBILITY.md",
}

// ofContrib returns the documents with this name of the modules below contrib.
func ofContrib(name string) []string {
	files, err := fs.Glob(repository(), "contrib/*/"+name)
	if err != nil {
		panic(err)
	}
	return files
}

// allDocuments returns the documents that are checked.
func allDocuments() []string {
	return slices.Concat(documents, ofContrib("README.md"), ofContrib("GUARANTEES.md"))
}

// guides are for people who come from another library.
var guides = []string{
	"docs/FROM_ZK_LOCK.md", "docs/FROM_CURATOR.md", "docs/FROM_ETCD.md", "docs/FROM_CONSUL.md", "docs/FROM_REDSYNC.md",
}

func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	for _, document := range slices.Concat(guides, allDocuments()) {
		require.NoError(t, Links(repository(), document))
	}
}

// elsewhere are packages of others whose names are in the documents.
var elsewhere = []string{
	"context", "errors", "fs", "net", "http", "os", "signal", "tls", "curator", "zk",
	"asynq", "gocron", "goose", "grpc", "kratos", "loadbalance", "migrate", "persist",
}

// The guides name what other libraries have, too.
func TestDocumentsNameWhatExists(t *testing.T) {
	for _, document := range allDocuments() {
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
		"```\nb.D()\n```\n":                         "no Go block",
	} {
		checkProblem(t, Snippets(document, []string{"package other\n", code}), problem)
	}
}

func TestDependencies(t *testing.T) {
	goMod := "module x.org/m\n\ngo 1.25.0\n\nrequire x.org/a v1.0.0\n\n" +
		"require (\n\tx.org/b/v2 v2.0.0\n\tx.org/c v0.1.0 // indirect\n)\n"
	head := "# C\n\n## Dependencies\n\n| module | why |\n|---|---|\n"
	for document, problem := range map[string]string{
		head + "| x.org/a | it is good |\n| x.org/b/v2 | so is it |\n":         "",
		head + "| x.org/a | it is good |\n":                                    "x.org/b/v2 is not in the table",
		head + "| x.org/a | it is good |\n| x.org/b/v2 | |\n":                  "x.org/b/v2 has no description",
		head + "| x.org/a | good |\n| x.org/b/v2 | good |\n| x.org/c | no |\n": "x.org/c is in the table, and does not exist",
		head + "| x.org/a | good |\n| x.org/a | good |\n":                      "x.org/a twice",
		head + "\n## Other\n\n| x.org/a | it is good |\n":                      "no table",
		"# C\n": `no section "Dependencies"`,
	} {
		checkProblem(t, Dependencies(document, goMod), problem)
		below := "module x.org/m/d\n\nrequire x.org/m v0.0.0\nrequire x.org/a v1.0.0\n\nreplace x.org/m => ../..\n"
		checkProblem(t, Dependencies(document, goMod, below), problem)
	}
}

func TestHouse(t *testing.T) {
	tree := fstest.MapFS{
		"a/a.go": {}, "a/b/b.go": {}, "a/testdata/t.go": {}, ".hidden/h.go": {}, "text/t.md": {},
	}
	head := "# C\n\n## The house\n\n| folder | what is in it |\n|---|---|\n"
	for document, problem := range map[string]string{
		head + "| [a](a) | the first |\n| [a/b](a/b) | the second |\n": "",
		head + "| `a` | the first |\n":                                 "folder a/b is not in the table",
		head + "| a | the first |\n| a/b | b |\n| text | t |\n":        "text is in the table, and does not exist",
	} {
		checkProblem(t, House(document, tree), problem)
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
