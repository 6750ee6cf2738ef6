package doccheck

import (
	"testing"
	"testing/fstest"
)

func TestNames(t *testing.T) {
	tree := fstest.MapFS{
		"x/a/a.go":      {Data: []byte("package a\n\ntype T struct{ f int }\n\nfunc (*T) m() {}\n")},
		"x/a/b.go":      {Data: []byte("package a\n\nfunc B() {}\n")},
		"x/a/c_test.go": {Data: []byte("package a\n\nfunc OnlyForTests() {}\n\nfunc TestA() {}\n")},
		"cmd/d/d.go":    {Data: []byte("package main\n")},
	}
	for text, problem := range map[string]string{
		"`a.T`, `a.T.m()`, `a.T.f` and [`a.B`](x/a/b.go)": "",
		"[`a.B`](x/a), `a.go`, `a/b.go`, `context.Cause`": "",
		"`a, b.C`, `x/a`, `f()`, `v0.1`, a.Gone":          "",
		"```go\nx := `a.Gone`\n```\n":                     "",
		"`TestA`, `Testing`":                              "",
		"`TestGone`":                                      "no test TestGone",
		"`FuzzGone`":                                      "no test FuzzGone",
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
