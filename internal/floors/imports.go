package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// module is the import path of this repository.
const module = "github.com/gocurator/curator"

// importsOf returns the imports of each package of a tree, by the folder. Files
// of tests do not count. An import of the repository is named by its folder, and
// any other by its path.
func importsOf(tree fs.FS) (map[string][]string, error) {
	imports := map[string][]string{}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && isSkipped(entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		of, err := importsOfFile(tree, name)
		folder := path.Dir(name)
		imports[folder] = append(imports[folder], of...)
		return err
	})
	for folder, of := range imports {
		slices.Sort(of)
		imports[folder] = slices.Compact(of)
	}
	return imports, err
}

func isSkipped(folder string) bool {
	return strings.HasPrefix(folder, ".") || folder == "testdata"
}

func importsOfFile(tree fs.FS, name string) (imports []string, err error) {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		imports = append(imports, strings.TrimPrefix(imported, module+"/"))
	}
	return imports, nil
}

// arrow says that one package imports another.
type arrow struct{ from, to string }

// arrows returns the imports between packages that no longer way implies: of "a
// imports b and c, and b imports c", the two from a to b and from b to c.
func arrows(names []string, imports map[string][]string) (all []arrow) {
	below := closure(names, imports)
	for _, from := range names {
		direct := slices.DeleteFunc(slices.Clone(names), func(to string) bool { return !slices.Contains(imports[from], to) })
		for _, to := range direct {
			implied := slices.ContainsFunc(direct, func(between string) bool { return below[between][to] })
			if !implied {
				all = append(all, arrow{from, to})
			}
		}
	}
	return all
}

// closure returns what each package imports, directly or through others.
func closure(names []string, imports map[string][]string) map[string]map[string]bool {
	below := map[string]map[string]bool{}
	var add func(name string) map[string]bool
	add = func(name string) map[string]bool {
		if all, done := below[name]; done {
			return all
		}
		all := map[string]bool{}
		below[name] = all
		for _, to := range imports[name] {
			if !slices.Contains(names, to) {
				continue
			}
			all[to] = true
			for further := range add(to) {
				all[further] = true
			}
		}
		return all
	}
	for _, name := range names {
		add(name)
	}
	return below
}
