package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// file is a file of source code, and the text that its mutants add.
type file struct {
	path   string // below the root
	text   []byte
	syntax *ast.File

	inserted map[int][]byte // the keys are offsets in text
}

// function is a function of a package.
type function struct {
	file *file
	decl *ast.FuncDecl
}

// folder is the package in a folder, tests included, as it is compiled on this
// system without build tags.
type folder struct {
	name      string // the name of the package
	files     []*file
	functions map[string]function // the keys are names such as mutant.function
	tests     map[string]function // the functions of test files
	chosen    []*mutant           // the mutants that mutate has added
}

// readFolder reads a folder below root. A folder that does not exist has no functions.
func readFolder(root, dir string) (*folder, error) {
	f := &folder{functions: map[string]function{}, tests: map[string]function{}}
	entries, err := os.ReadDir(filepath.Join(root, dir))
	if err != nil {
		if os.IsNotExist(err) {
			return f, nil
		}
		return nil, err
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") {
			continue
		}
		matches, err := build.Default.MatchFile(filepath.Join(root, dir), entry.Name())
		if err != nil {
			return nil, err
		}
		if !matches {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return nil, err
		}
		// The only file of its set, whose positions begin at 1.
		syntax, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		f.add(&file{path: path, text: text, syntax: syntax, inserted: map[int][]byte{}})
	}
	return f, nil
}

func (f *folder) add(g *file) {
	f.files = append(f.files, g)
	functions := f.tests
	if !strings.HasSuffix(g.path, "_test.go") {
		f.name = g.syntax.Name.Name
		functions = f.functions
	}
	for _, decl := range g.syntax.Decls {
		if d, ok := decl.(*ast.FuncDecl); ok && d.Body != nil {
			functions[nameOf(d)] = function{g, d}
		}
	}
}

// nameOf returns the name of a function as in mutant.function.
func nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	receiver, pattern := d.Recv.List[0].Type, "%s.%s"
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver, pattern = star.X, "(*%s).%s"
	}
	switch generic := receiver.(type) {
	case *ast.IndexExpr:
		receiver = generic.X
	case *ast.IndexListExpr:
		receiver = generic.X
	}
	return fmt.Sprintf(pattern, receiver.(*ast.Ident).Name, d.Name.Name)
}

// body returns the text between the braces of a function, or an empty text if the
// function does not exist.
func (fn function) body() string {
	if fn.decl == nil {
		return ""
	}
	return string(fn.file.text[fn.decl.Body.Lbrace : fn.decl.Body.Rbrace-1])
}

// mutate adds a mutant: the changed body goes before the function's own, and is run in
// its place when the mutant is chosen. It returns the reason why the mutant does not
// fit, or "". A function with a label cannot have mutants.
func (f *folder) mutate(m *mutant) string {
	fn, exists := f.functions[m.function]
	body := fn.body()
	found := m.find(body)
	if len(found) != 1 {
		return f.misfit(m, exists, len(found))
	}
	body = body[:found[0][0]] + strings.Join(m.new, "\n") + body[found[0][1]:] + "\n"
	src := "package p;func _(){" + body + "}"
	if _, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution); err != nil {
		return fmt.Sprintf("its function does not parse: %v", err)
	}
	if fn.decl.Type.Results == nil {
		body += "return\n"
	}
	at := int(fn.decl.Body.Lbrace) // the offset after the brace
	fn.file.inserted[at] = fmt.Appendf(fn.file.inserted[at], "if %s {/*line /mutant/%s:1:1*/%s};",
		m.identifier(), m.name, body)
	f.chosen = append(f.chosen, m)
	return ""
}

// misfit describes the code in place of the old text of a mutant.
func (f *folder) misfit(m *mutant, exists bool, times int) string {
	var b strings.Builder
	if !exists {
		fmt.Fprintf(&b, "there is no function %s in %s", m.function, m.folder)
	} else {
		fmt.Fprintf(&b, "the old text is %d times in %s", times, m.function)
	}
	fmt.Fprintf(&b, "\n    old text: %s", strings.Join(m.old, "\n              "))
	return b.String()
}

// withMutants returns the text with the mutants in it.
func (f *file) withMutants() []byte {
	var b bytes.Buffer
	from := 0
	for _, at := range slices.Sorted(maps.Keys(f.inserted)) {
		b.Write(f.text[from:at])
		b.Write(f.inserted[at])
		from = at
	}
	b.Write(f.text[from:])
	return b.Bytes()
}

// choice returns a file that selects the mutant that a package behaves as.
func (f *folder) choice() []byte {
	b := fmt.Appendf(nil, "package %s\n\nimport \"os\"\n\nvar (\n", f.name)
	for _, m := range f.chosen {
		b = fmt.Appendf(b, "\t%s = os.Getenv(\"CURATOR_MUTANT\") == %q\n", m.identifier(), m.name)
	}
	return append(b, ")\n"...)
}
