package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// catalogue is the folder of the mutants. The file catalogue/DIR.txt has the
// mutants of the package in DIR.
const catalogue = ".ci/mutants"

// mutant breaks one rule: it replaces a text in the body of one function.
type mutant struct {
	name       string
	rule       string
	folder     string // the folder of the package that the mutant changes
	function   string // F, T.M or (*T).M
	testFolder string // the folder of the test
	test       string // TestF, or TestF/PATTERN, whose subtests match regular expressions
	old, new   []string
	place      string // file and line
}

// readMutants reads the mutants below root, sorted by file and place.
func readMutants(root string) ([]*mutant, error) {
	var all []*mutant
	dir := filepath.Join(root, catalogue)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".txt") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		mutants, err := parseMutants(filepath.ToSlash(name), string(text))
		all = append(all, mutants...)
		return err
	})
	if err != nil {
		return nil, err
	}
	places := map[string]string{}
	for _, m := range all {
		if places[m.name] != "" {
			return nil, fmt.Errorf("%s: %s exists already at %s", m.place, m.name, places[m.name])
		}
		places[m.name] = m.place
	}
	return all, nil
}

// parseMutants reads one file of the catalogue. Empty lines separate mutants, and
// lines that begin with # are comments.
func parseMutants(file, text string) (mutants []*mutant, err error) {
	var m *mutant
	for i, line := range strings.Split(text, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "":
			m = nil
		case line[0] == '#':
		case key == "mutant":
			m = &mutant{name: value, folder: strings.TrimSuffix(file, ".txt")}
			m.place = fmt.Sprintf("%s/%s:%d", catalogue, file, i+1)
			mutants = append(mutants, m)
		case m == nil:
			return nil, fmt.Errorf("%s/%s:%d: a mutant begins with its name", catalogue, file, i+1)
		case key == "rule":
			m.rule = value
		case key == "func":
			m.function = value
		case key == "test":
			m.testFolder, m.test, _ = strings.Cut(value, " ")
		case line[0] == '-':
			m.old = append(m.old, strings.TrimLeft(line[1:], " \t"))
		case line[0] == '+':
			m.new = append(m.new, strings.TrimLeft(line[1:], " "))
		default:
			return nil, fmt.Errorf("%s/%s:%d: neither a field nor a line to delete or to add", catalogue, file, i+1)
		}
	}
	for _, m := range mutants {
		if slices.Contains([]string{m.rule, m.function, m.test, strings.Join(m.old, "")}, "") || !isName.MatchString(m.name) {
			return nil, fmt.Errorf("%s: %s lacks a part, or its name has other characters than a-z, 0-9 and -", m.place, m.name)
		}
	}
	return mutants, nil
}

var isName = regexp.MustCompile(`^[a-z0-9-]+$`)

// testFunction returns the name of the function that holds the test.
func (m *mutant) testFunction() string {
	name, _, _ := strings.Cut(m.test, "/")
	return name
}

// pattern returns the pattern that selects the test.
func (m *mutant) pattern() string {
	_, subtests, _ := strings.Cut(m.test, "/")
	return "^" + m.testFunction() + "$/" + subtests
}

// identifier returns the name of the variable that is true in the mutant.
func (m *mutant) identifier() string { return "mutant_" + strings.ReplaceAll(m.name, "-", "_") }

// find returns the positions of the old text in a function's body. Indentation may
// differ.
func (m *mutant) find(body string) [][]int {
	lines := make([]string, len(m.old))
	for i, line := range m.old {
		lines[i] = regexp.QuoteMeta(line)
	}
	return regexp.MustCompile(strings.Join(lines, `\n\s*`)).FindAllStringIndex(body, -1)
}
