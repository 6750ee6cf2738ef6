package doccheck

import (
	"errors"
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Mutexes checks that a section of a document names every mutex that a type
// below some folders has, as `claim.Claim.mu`. A pointer to a mutex is another
// type's. Tests, examples, and packages whose names end in "test", do not count.
func (c *Code) Mutexes(document, section string, folders ...string) error {
	return c.everyone(document, section, folders, func(f source) (all []string) {
		for _, name := range mutexesOf(f) {
			all = append(all, "`"+f.Name.Name+"."+name+"`")
		}
		return all
	})
}

// mutexesOf returns the fields of a file's types that are mutexes, as "Claim.mu".
func mutexesOf(f source) (names []string) {
	ast.Inspect(f.File, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		fields, ok := spec.Type.(*ast.StructType)
		if !ok {
			return false
		}
		for _, field := range fields.Fields.List {
			if !isMutex(field.Type) {
				continue
			}
			for _, name := range field.Names {
				names = append(names, spec.Name.Name+"."+name.Name)
			}
		}
		return false
	})
	return names
}

func isMutex(e ast.Expr) bool {
	t, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := t.X.(*ast.Ident)
	return ok && of.Name == "sync" && (t.Sel.Name == "Mutex" || t.Sel.Name == "RWMutex")
}

// Goroutines checks that a section of a document links to every file below some
// folders that starts a goroutine: with a go statement, or with a
// method Go or spawn. Tests, examples, and packages whose names end in "test", do
// not count.
func (c *Code) Goroutines(document, section string, folders ...string) error {
	return c.everyone(document, section, folders, func(f source) []string {
		if !startsGoroutines(f) {
			return nil
		}
		return []string{"](" + f.name + ")"}
	})
}

func startsGoroutines(f source) (starts bool) {
	ast.Inspect(f.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			starts = true
		case *ast.CallExpr:
			called, ok := n.Fun.(*ast.SelectorExpr)
			starts = starts || ok && (called.Sel.Name == "Go" || called.Sel.Name == "spawn")
		}
		return !starts
	})
	return starts
}

// everyone checks that a section of a document has all the texts that wanted
// returns for the files below some folders.
func (c *Code) everyone(document, section string, folders []string, wanted func(source) []string) error {
	text, err := fs.ReadFile(c.tree, document)
	if err != nil {
		return err
	}
	_, after, found := strings.Cut(string(text), "\n## "+section+"\n")
	if !found {
		return fmt.Errorf("%s has no section %q", document, section)
	}
	after, _, _ = strings.Cut(after, "\n## ")
	var problems []error
	for _, f := range c.files {
		below := slices.ContainsFunc(folders, func(folder string) bool { return strings.HasPrefix(f.name, folder+"/") })
		isOther := strings.Contains(f.name, "/examples/") || strings.HasSuffix(path.Dir(f.name), "test")
		if !below || f.isTest() || isOther {
			continue
		}
		for _, name := range wanted(f) {
			if !strings.Contains(after, name) {
				problems = append(problems, fmt.Errorf("%s: section %q does not have %s", document, section, name))
			}
		}
	}
	return errors.Join(problems...)
}
