package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tree has the packages below a folder.
type tree struct {
	root    string
	folders map[string]*folder
}

// readTree reads the packages that mutants change, and the packages of their tests.
func readTree(root string, mutants []*mutant) (*tree, error) {
	t := &tree{root: root, folders: map[string]*folder{}}
	for _, m := range mutants {
		for _, dir := range []string{m.folder, m.testFolder} {
			if t.folders[dir] != nil {
				continue
			}
			f, err := readFolder(root, dir)
			if err != nil {
				return nil, err
			}
			t.folders[dir] = f
		}
	}
	return t, nil
}

// mutate adds the mutants. It returns the mutants that do not fit, with the reasons.
func (t *tree) mutate(mutants []*mutant) map[*mutant]string {
	misfits := map[*mutant]string{}
	for _, m := range mutants {
		if t.folders[m.testFolder].tests[m.testFunction()].decl == nil {
			misfits[m] = fmt.Sprintf("there is no test %s in %s", m.testFunction(), m.testFolder)
		} else if why := t.folders[m.folder].mutate(m); why != "" {
			misfits[m] = why + t.elsewhere(m)
		}
	}
	return misfits
}

// elsewhere names the functions that have the old text of a mutant that does not fit.
func (t *tree) elsewhere(m *mutant) string {
	var b strings.Builder
	for _, dir := range slices.Sorted(maps.Keys(t.folders)) {
		f := t.folders[dir]
		for _, name := range slices.Sorted(maps.Keys(f.functions)) {
			if (dir != m.folder || name != m.function) && len(m.find(f.functions[name].body())) > 0 {
				fmt.Fprintf(&b, "\n    it is in: %s (%s)", name, f.functions[name].file.path)
			}
		}
	}
	return b.String()
}

// write writes copies of the files with mutants to dir, and the overlay for the go
// command that names the copies.
func (t *tree) write(dir string) error {
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	put := func(path string, text []byte) error {
		copied := filepath.Join(dir, path)
		overlay.Replace[filepath.Join(t.root, path)] = copied
		return writeFile(copied, text)
	}
	for _, name := range slices.Sorted(maps.Keys(t.folders)) {
		f := t.folders[name]
		if len(f.chosen) == 0 {
			continue
		}
		if err := put(filepath.Join(name, "chosen_mutant.go"), f.choice()); err != nil {
			return err
		}
		for _, g := range f.files {
			if len(g.inserted) > 0 {
				if err := put(g.path, g.withMutants()); err != nil {
					return err
				}
			}
		}
	}
	text, err := json.MarshalIndent(overlay, "", "\t")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, "overlay.json"), text)
}

func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
