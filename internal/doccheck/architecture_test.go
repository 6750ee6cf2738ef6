package doccheck

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const architecture = "ARCHITECTURE.md"

func TestArchitectureNamesEveryMutex(t *testing.T) {
	require.NoError(t, code(t).Mutexes(architecture, "Lock order", "contrib", "framework", "recipes"))
}

func TestArchitectureNamesEveryGoroutine(t *testing.T) {
	require.NoError(t, code(t).Goroutines(architecture, "Who owns which goroutine", "contrib", "framework", "recipes"))
}

// It is one page, which a stranger reads in ten minutes.
func TestArchitectureIsOnePage(t *testing.T) {
	require.LessOrEqual(t, strings.Count(read(t, architecture), "\n"), 250)
}

func TestNames(t *testing.T) {
	tree := fstest.MapFS{
		"x/a/a.go":      {Data: []byte("package a\n\ntype T struct{ f int }\n\nfunc (*T) m() {}\n")},
		"x/a/b.go":      {Data: []byte("package a\n\nfunc B() {}\n")},
		"x/a/c_test.go": {Data: []byte("package a\n\nfunc OnlyForTests() {}\n")},
		"cmd/d/d.go":    {Data: []byte("package main\n")},
	}
	for text, problem := range map[string]string{
		"`a.T`, `a.T.m()`, `a.T.f` and [`a.B`](x/a/b.go)": "",
		"[`a.B`](x/a), `a.go`, `a/b.go`, `context.Cause`": "",
		"`a, b.C`, `x/a`, `f()`, `v0.1`, a.Gone":          "",
		"```go\nx := `a.Gone`\n```\n":                     "",
		"`a.Gone`":                                        "a.Gone does not exist",
		"`a.T.gone`":                                      "a.T.gone does not exist",
		"`a.OnlyForTests`":                                "a.OnlyForTests does not exist",
		"`aa.T`":                                          "no package aa",
		"`gone.go`":                                       "no file gone.go",
		"`a/d.go`":                                        "no file a/d.go",
		"[`a.B`](x/a/a.go)":                               "a.B is not declared in x/a/a.go",
		"[`a.B`](cmd/d)":                                  "a.B is not declared in cmd/d",
	} {
		tree["doc.md"] = &fstest.MapFile{Data: []byte(text + "\n")}
		checkProblem(t, codeOf(t, tree).Names("doc.md", "context"), problem)
	}
}

func TestMutexes(t *testing.T) {
	tree := fstest.MapFS{
		"a/a.go":         {Data: []byte("package a\n\nimport \"sync\"\n\ntype T struct{ mu, other sync.Mutex; f *sync.Mutex }\n")},
		"a/a_test.go":    {Data: []byte("package a\n\nimport \"sync\"\n\ntype U struct{ mu sync.Mutex }\n")},
		"a/atest/a.go":   {Data: []byte("package atest\n\nimport \"sync\"\n\ntype V struct{ mu sync.Mutex }\n")},
		"elsewhere/e.go": {Data: []byte("package e\n\nimport \"sync\"\n\ntype W struct{ mu sync.RWMutex }\n")},
	}
	for text, problem := range map[string]string{
		"# D\n\n## Locks\n\n`a.T.mu`, `a.T.other`\n":            "",
		"# D\n\n## Locks\n\n`a.T.mu`\n\n## More\n`a.T.other`\n": "does not have `a.T.other`",
		"# D\n": `no section "Locks"`,
	} {
		tree["doc.md"] = &fstest.MapFile{Data: []byte(text)}
		checkProblem(t, codeOf(t, tree).Mutexes("doc.md", "Locks", "a"), problem)
	}
}

func TestGoroutines(t *testing.T) {
	for statement, starts := range map[string]bool{
		"go f()": true, "c.Go(f)": true, "c.spawn(f)": true, "f()": false, "c.Goes(f)": false, "Go(f)": false,
	} {
		tree := fstest.MapFS{
			"a/b/b.go":      {Data: []byte("package b\n\nfunc g() { " + statement + " }\n")},
			"a/b/b_test.go": {Data: []byte("package b\n\nfunc h() { go f() }\n")},
			"doc.md":        {Data: []byte("# D\n\n## Goroutines\n\n")},
		}
		problem := ""
		if starts {
			problem = "does not have ](a/b/b.go)"
		}
		checkProblem(t, codeOf(t, tree).Goroutines("doc.md", "Goroutines", "a"), problem)
		tree["doc.md"] = &fstest.MapFile{Data: []byte("# D\n\n## Goroutines\n\n[b.go](a/b/b.go)\n")}
		checkProblem(t, codeOf(t, tree).Goroutines("doc.md", "Goroutines", "a"), "")
	}
}
