// Package guarantees checks the documents named GUARANTEES.md. Each of them
// lists what a package promises, and names the tests that hold each promise. A
// test that was renamed or deleted must not leave a promise without a test.
//
// A document names a test in backquotes: `TestX`, `BenchmarkX`, `ExampleX` or
// `FuzzX`, or a subtest such as `TestX/case`. The function must be in a test
// file of the document's folder, or of a folder that a paragraph at its top
// lists:
//
//	Tests: this folder, ../../state, ../../testing/interop
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

// Document is the name of the files that Check reads.
const Document = "GUARANTEES.md"

// Check reads every document of the tree, except those in hidden folders and in
// folders named testdata or vendor. It returns an error for each of the
// following, all of them joined:
//
//   - a test that a document names and that none of its folders has;
//   - a list of tests that names something else, too;
//   - a folder that a document lists and that does not exist;
//   - a document that names no test;
//   - a tree without any document, and a test file that does not parse.
func Check(tree fs.FS) error {
	documents, err := find(tree)
	if err != nil {
		return err
	}
	if len(documents) == 0 {
		return fmt.Errorf("no %s in the tree", Document)
	}
	c := checker{tree: tree, tests: map[string]map[string]bool{}}
	for _, name := range documents {
		c.check(name)
	}
	return errors.Join(c.problems...)
}

// find returns the paths of all documents.
func find(tree fs.FS) (documents []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && isSkipped(entry.Name()):
			return fs.SkipDir
		case !entry.IsDir() && entry.Name() == Document:
			documents = append(documents, name)
		}
		return nil
	})
	return documents, err
}

func isSkipped(folder string) bool {
	return strings.HasPrefix(folder, ".") || folder == "testdata" || folder == "vendor"
}

// checker holds what the checks of several documents share.
type checker struct {
	tree     fs.FS
	tests    map[string]map[string]bool // the keys are folders, then functions; filled on demand
	problems []error
}

func (c *checker) report(format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf(format, args...))
}

// testName finds the tests that a line names. The name of a subtest is left out.
var testName = regexp.MustCompile("`((?:Test|Benchmark|Example|Fuzz)(?:[A-Z0-9_]\\w*)?)(?:/[^`]*)?`")

func (c *checker) check(document string) {
	text, err := fs.ReadFile(c.tree, document)
	if err != nil {
		c.report("%w", err)
		return
	}
	folders := c.folders(document, string(text))
	named := 0
	for i, line := range strings.Split(string(text), "\n") {
		for _, match := range testName.FindAllStringSubmatch(line, -1) {
			named++
			if !c.isIn(folders, match[1]) {
				c.report("%s:%d: no function %s in the tests of %s",
					document, i+1, match[1], strings.Join(folders, ", "))
			}
		}
	}
	if named == 0 {
		c.report("%s names no test", document)
	}
	c.checkLists(document, string(text))
}

var (
	quoted     = regexp.MustCompile("`[^`]+`")
	quotedList = regexp.MustCompile("`[^`]+`(?:,\\s+`[^`]+`)+")
)

// checkLists reports what stands in a list of tests and is none. A list is a
// run of words in backquotes with commas between them, also over several lines.
// It is one of tests if it names a test.
func (c *checker) checkLists(document, text string) {
	for _, span := range quotedList.FindAllStringIndex(text, -1) {
		list := text[span[0]:span[1]]
		if !testName.MatchString(list) {
			continue
		}
		for _, at := range quoted.FindAllStringIndex(list, -1) {
			item := list[at[0]:at[1]]
			if testName.FindString(item) != item {
				line := 1 + strings.Count(text[:span[0]+at[0]], "\n")
				c.report("%s:%d: %s in a list of tests is none", document, line, item)
			}
		}
	}
}

// folderList finds the paragraph that lists the folders of a document's tests.
var folderList = regexp.MustCompile(`(?m)^Tests: ?((?:.+\n?)+)`)

// folders returns the folders that may have the tests of a document: its own,
// and then those that it lists. A folder that does not exist is reported and
// left out.
func (c *checker) folders(document, text string) []string {
	own := path.Dir(document)
	folders := []string{own}
	list := folderList.FindStringSubmatch(text)
	if list == nil {
		return folders
	}
	for _, item := range strings.Split(list[1], ",") {
		item = strings.TrimSpace(item)
		if item == "this folder" {
			continue
		}
		folder := path.Join(own, item)
		if info, err := fs.Stat(c.tree, folder); err != nil || !info.IsDir() {
			c.report("%s lists the folder %s, which does not exist", document, item)
			continue
		}
		folders = append(folders, folder)
	}
	return folders
}

func (c *checker) isIn(folders []string, test string) bool {
	for _, folder := range folders {
		if c.testsOf(folder)[test] {
			return true
		}
	}
	return false
}

// testsOf returns the names of the functions in a folder's test files. Methods
// do not count.
func (c *checker) testsOf(folder string) map[string]bool {
	if tests, ok := c.tests[folder]; ok {
		return tests
	}
	tests := map[string]bool{}
	c.tests[folder] = tests
	files, err := fs.Glob(c.tree, path.Join(folder, "*_test.go"))
	if err != nil {
		c.report("%w", err)
	}
	for _, name := range files {
		file, err := c.parse(name)
		if err != nil {
			c.report("%w", err)
			continue
		}
		for _, declared := range file.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && f.Recv == nil {
				tests[f.Name.Name] = true
			}
		}
	}
	return tests
}

func (c *checker) parse(name string) (*ast.File, error) {
	text, err := fs.ReadFile(c.tree, name)
	if err != nil {
		return nil, err
	}
	return parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
}
