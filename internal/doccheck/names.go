package doccheck

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Names checks the text in code font in a document of the tree:
//
//   - A file, such as `loop.go` or `seat/wait.go`, exists. The beginning of
//     its path may be missing.
//   - A name of a package, such as `seat.Lock.Acquire` or `seat.edges`, is
//     declared there, outside of tests. It need not be exported.
//   - A test, such as `TestNames` or `FuzzNames`, is declared in a test file.
//   - A name that is the text of a link, as in [`seat.Lock.Acquire`](lock.go), is
//     declared in that file, or in that folder.
//
// The argument foreign lists the packages of other modules that the document may name.
// Names of any other package that the tree does not have are errors. Names ignores code
// of other forms, and blocks of code.
func (c *Code) Names(document string, foreign ...string) error {
	text, err := fs.ReadFile(c.tree, document)
	if err != nil {
		return err
	}
	paths, err := allPaths(c.tree)
	if err != nil {
		return err
	}
	n := names{folder: path.Dir(document), paths: paths, packages: declaredIn(c.files),
		tests: testsIn(c.files), foreign: foreign}
	var problems []error
	for _, match := range codeFont.FindAllStringSubmatch(codeBlock.ReplaceAllString(string(text), ""), -1) {
		if problem := n.wrong(match[1], match[2]); problem != "" {
			problems = append(problems, fmt.Errorf("%s: %s", document, problem))
		}
	}
	return errors.Join(problems...)
}

var (
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	// codeFont is text in code font and, if it is the text of a link, the target.
	codeFont = regexp.MustCompile("`([^`\n]+)`(?:\\]\\(([^)\\s]+)\\))?")
	fileName = regexp.MustCompile(`^[\w./-]+\.(?:go|md|mod|svg|yml|patch)$`)
	testName = regexp.MustCompile(`^(?:Test|Fuzz)[A-Z]\w*$`)
	codeName = regexp.MustCompile(`^([a-z]\w*)\.([A-Za-z]\w*(?:\.[A-Za-z]\w*)?)(?:\(\))?$`)
)

// names are the names that the tree has.
type names struct {
	folder   string // the document's folder
	paths    []string
	packages map[string]map[string]bool // the declarations of each package, folder and file
	tests    map[string]bool
	foreign  []string
}

// wrong returns the problem with a text in code font, or an empty text.
func (n names) wrong(text, target string) string {
	if fileName.MatchString(text) {
		if !slices.ContainsFunc(n.paths, func(p string) bool { return p == text || strings.HasSuffix(p, "/"+text) }) {
			return "there is no file " + text
		}
		return ""
	}
	if testName.MatchString(text) && !n.tests[text] {
		return "there is no test " + text
	}
	match := codeName.FindStringSubmatch(text)
	if match == nil || slices.Contains(n.foreign, match[1]) {
		return ""
	}
	declared, known := n.packages[match[1]]
	switch {
	case !known:
		return "there is no package " + match[1]
	case !declared[match[2]]:
		return fmt.Sprintf("%s.%s does not exist", match[1], match[2])
	case target != "" && !n.packages[path.Join(n.folder, target)][match[2]]:
		return fmt.Sprintf("%s.%s is not declared in %s", match[1], match[2], target)
	}
	return ""
}

// declaredIn returns the names that files outside of tests declare, by the name
// of the package, by the folder, and by the file.
func declaredIn(files []source) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, f := range files {
		if f.isTest() {
			continue
		}
		for _, key := range []string{f.Name.Name, path.Dir(f.name), f.name} {
			if all[key] == nil {
				all[key] = map[string]bool{}
			}
			for _, name := range declared(f.File) {
				all[key][name] = true
			}
		}
	}
	return all
}

// testsIn returns the names of the functions in test files.
func testsIn(files []source) map[string]bool {
	all := map[string]bool{}
	for _, f := range files {
		if f.isTest() {
			for _, name := range topLevel(f.File) {
				all[name] = true
			}
		}
	}
	return all
}

func allPaths(tree fs.FS) (paths []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !entry.IsDir():
			paths = append(paths, name)
		}
		return nil
	})
	return paths, err
}
