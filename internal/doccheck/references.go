package doccheck

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

// Code is a tree with the Go files in it.
type Code struct {
	tree  fs.FS
	files []source
}

// Read reads the Go files of a tree, except files below hidden folders and folders
// named testdata.
func Read(tree fs.FS) (*Code, error) {
	files, err := parseAll(tree)
	if err != nil {
		return nil, err
	}
	return &Code{tree, files}, nil
}

// References checks the names of packages and their members in the comments of the Go
// files: "locks.Lease" and "locks.Lease.Release" must be exported names of package
// locks, and "package recipes/locks" must export names. As in code, comments refer to a
// package by its name. References ignores packages that are not in the tree, or below
// cmd.
func (c *Code) References() error {
	packages := exports(c.files)
	var problems []error
	for _, f := range c.files {
		for _, group := range f.Comments {
			for _, problem := range wrongReferences(group.Text(), packages) {
				problems = append(problems, fmt.Errorf("%s: %s", f.position(group), problem))
			}
		}
	}
	return errors.Join(problems...)
}

// source is a Go file.
type source struct {
	*ast.File
	name string
	text []byte
	set  *token.FileSet
}

func (f source) position(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.name, f.set.Position(n.Pos()).Line)
}

func (f source) isTest() bool { return strings.HasSuffix(f.name, "_test.go") }

func parseAll(tree fs.FS) (files []source, err error) {
	folders, err := goFolders(tree)
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		names, err := fs.Glob(tree, path.Join(folder, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := fs.ReadFile(tree, name)
			if err != nil {
				return nil, err
			}
			set := token.NewFileSet()
			parsed, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			files = append(files, source{parsed, name, text, set})
		}
	}
	return files, nil
}

// exports returns the exported names of all packages: "New", and "Lease.Release" for
// methods and fields. Two packages with the same name count as one; each can also be
// named by its folder. A package below contrib can only be named by its folder, because
// it has the same name as the library for which it is made.
func exports(files []source) map[string]map[string]bool {
	packages := map[string]map[string]bool{}
	for _, f := range files {
		if f.isTest() || strings.HasPrefix(f.name, "cmd/") {
			continue
		}
		for _, key := range []string{f.Name.Name, path.Dir(f.name)} {
			if strings.HasPrefix(f.name, "contrib/") && key == f.Name.Name {
				continue
			}
			if packages[key] == nil {
				packages[key] = map[string]bool{}
			}
			for _, name := range declared(f.File) {
				packages[key][name] = true
			}
		}
	}
	return packages
}

// declared returns the declarations of a file, and the fields and methods of its types.
func declared(f *ast.File) (names []string) {
	names = topLevel(f)
	for _, spec := range typeSpecs(f) {
		for _, member := range members(spec.Type) {
			names = append(names, spec.Name.Name+"."+member)
		}
	}
	return names
}

// topLevel returns the functions, types, constants and variables of a file.
// Methods have the name of their type: "Lease.Release".
func topLevel(f *ast.File) (names []string) {
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiver(d.Recv.List[0].Type) + "." + name
			}
			names = append(names, name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range s.Names {
						names = append(names, name.Name)
					}
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				}
			}
		}
	}
	return names
}

func typeSpecs(f *ast.File) (specs []*ast.TypeSpec) {
	for _, decl := range f.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			if s, ok := spec.(*ast.TypeSpec); ok {
				specs = append(specs, s)
			}
		}
	}
	return specs
}

// receiver returns the name of a method's type.
func receiver(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	default:
		return ""
	}
}

// members returns the fields of a struct, and the methods of an interface.
func members(e ast.Expr) (names []string) {
	var fields *ast.FieldList
	switch t := e.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return nil
	}
	for _, field := range fields.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

var (
	reference     = regexp.MustCompile(`(?:^|[^\w./])([a-z]\w*)\.([A-Z]\w*(?:\.[A-Z]\w*)?)`)
	packageByName = regexp.MustCompile(`\bpackage ([a-z]\w*(?:/\w+)*)`)
)

// wrongReferences returns the names in a comment that do not exist.
func wrongReferences(text string, packages map[string]map[string]bool) (problems []string) {
	for _, match := range reference.FindAllStringSubmatch(text, -1) {
		if names, known := packages[match[1]]; known && !names[match[2]] {
			problems = append(problems, match[1]+"."+match[2]+" does not exist")
		}
	}
	for _, match := range packageByName.FindAllStringSubmatch(text, -1) {
		if names, known := packages[match[1]]; known && len(names) == 0 {
			problems = append(problems, "package "+match[1]+" has nothing to use")
		}
	}
	return problems
}
