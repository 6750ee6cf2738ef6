// Package guarantees checks that promises and mutants name tests that exist.
//
// The record of a promise is a line above the test that holds it:
//
//	// Promise: A release deletes its node even if the caller's context has ended.
//
// The document docs/GUARANTEES.md lists the promises that users rely on, and
// names a test of each as `folder.TestName`. The mutants in .ci/mutants name
// the tests that notice them.
package guarantees

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

var (
	inDocument = regexp.MustCompile("`([\\w./-]+)\\.(Test\\w+)`")
	inMutant   = regexp.MustCompile(`(?m)^test: (\S+) (\w+)`)
)

// Check returns an error for each test in the document that does not exist or bears no
// promise, and for each test of a mutant that does not exist.
func Check(tree fs.FS) error {
	c := checker{tree: tree, tests: map[string]map[string]bool{}}
	if err := c.check("docs/GUARANTEES.md", inDocument, true); err != nil {
		return err
	}
	err := fs.WalkDir(tree, ".ci/mutants", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return c.check(name, inMutant, false)
	})
	return errors.Join(append(c.problems, err)...)
}

type checker struct {
	tree     fs.FS
	tests    map[string]map[string]bool // whether a test bears a promise; the keys are folders and functions
	problems []error
}

// check looks for the tests that a file names.
func (c *checker) check(name string, reference *regexp.Regexp, promised bool) error {
	text, err := fs.ReadFile(c.tree, name)
	if err != nil {
		return err
	}
	named := 0
	for i, line := range strings.Split(string(text), "\n") {
		for _, match := range reference.FindAllStringSubmatch(line, -1) {
			named++
			tests, err := c.testsOf(match[1])
			if err != nil {
				return err
			}
			promises, exists := tests[match[2]]
			switch {
			case !exists:
				c.problems = append(c.problems, fmt.Errorf("%s:%d: no test %s in %s", name, i+1, match[2], match[1]))
			case promised && !promises:
				c.problems = append(c.problems, fmt.Errorf("%s:%d: %s in %s bears no promise", name, i+1, match[2], match[1]))
			}
		}
	}
	if named == 0 {
		c.problems = append(c.problems, fmt.Errorf("%s names no test", name))
	}
	return nil
}

// testsOf returns the functions in a folder's test files.
func (c *checker) testsOf(folder string) (map[string]bool, error) {
	if tests, ok := c.tests[folder]; ok {
		return tests, nil
	}
	tests := map[string]bool{}
	c.tests[folder] = tests
	files, err := fs.Glob(c.tree, path.Join(folder, "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		text, err := fs.ReadFile(c.tree, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, declared := range file.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && f.Recv == nil {
				tests[f.Name.Name] = strings.HasPrefix(f.Doc.Text(), "Promise: ") || strings.Contains(f.Doc.Text(), "\nPromise: ")
			}
		}
	}
	return tests, nil
}
