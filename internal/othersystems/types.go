package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"runtime"
	"strings"
)

// checkTypes returns all errors of types in packages that come in the order of
// their dependencies.
func checkTypes(packages []listed) error {
	c := checker{positions: token.NewFileSet(), checked: map[string]*types.Package{"unsafe": types.Unsafe}}
	for _, p := range packages {
		if p.ImportPath == "unsafe" || p.isProgramOfTests() {
			continue
		}
		if err := c.check(p); err != nil {
			return fmt.Errorf("%s: %w", p.ImportPath, err)
		}
	}
	return errors.Join(c.errors...)
}

// isProgramOfTests reports whether p is the package main that the go command
// generates for tests.
func (p listed) isProgramOfTests() bool {
	return p.ForTest == "" && strings.HasSuffix(p.ImportPath, ".test")
}

type checker struct {
	positions *token.FileSet
	checked   map[string]*types.Package // the keys are ImportPaths
	errors    []error
}

func (c *checker) check(p listed) error {
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(c.positions, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	config := types.Config{
		Importer:         importer{c.checked, p.ImportMap},
		IgnoreFuncBodies: p.Module == nil || !p.Module.Main,
		Sizes:            types.SizesFor("gc", runtime.GOARCH),
		Error:            func(err error) { c.errors = append(c.errors, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	c.checked[p.ImportPath], _ = config.Check(path, c.positions, files, nil) // Error has the errors
	return nil
}

// importer finds packages that have been checked before.
type importer struct {
	checked map[string]*types.Package
	renamed map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if p, ok := i.renamed[path]; ok {
		path = p
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("go list has not listed %s", path)
}
