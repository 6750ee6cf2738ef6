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

// file is a file of source code, and what its mutants add to it.
type file struct {
	path   string // below the root
	text   []byte
	syntax *ast.File

	inserted map[int][]byte // the keys are offsets in text
	appended []byte
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
	chosen    []*mutant           // what mutate has added
}

// readFolder reads a folder below root. One that does not exist has no functions.
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

func (f *file) between(from, to token.Pos) string { return string(f.text[from-1 : to-1]) }

// body returns what stands between the braces of a function. It is empty if the
// function does not exist.
func (fn function) body() string {
	if fn.decl == nil {
		return ""
	}
	return fn.file.between(fn.decl.Body.Lbrace+1, fn.decl.Body.Rbrace)
}

// mutate adds a mutant's function, under another name. The original calls it
// when the mutant is chosen. It returns why the mutant does not fit, or "".
func (f *folder) mutate(m *mutant) string {
	fn, exists := f.functions[m.function]
	found := m.find(fn.body())
	if len(found) != 1 {
		return f.misfit(m, exists, len(found))
	}
	g, d, body := fn.file, fn.decl, fn.body()
	name := d.Name.Name + "_" + m.identifier()
	changed := g.between(d.Pos(), d.Name.Pos()) + name + g.between(d.Name.End(), d.Body.Lbrace+1) +
		body[:found[0][0]] + strings.Join(m.new, "\n") + body[found[0][1]:] + "}"
	if _, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+changed, parser.SkipObjectResolution); err != nil {
		return fmt.Sprintf("its function does not parse: %v", err)
	}
	g.appended = fmt.Appendf(g.appended, "\n//line /mutant/%s:1\n%s\n", m.name, changed)
	at := int(d.Body.Lbrace) // the offset after the brace
	g.inserted[at] = fmt.Appendf(g.inserted[at], " if %s { %s };", m.identifier(), g.call(d, name))
	f.chosen = append(f.chosen, m)
	return ""
}

// misfit says what there is instead of the old text of a mutant.
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

// call returns a call of the function name with the receiver and the arguments
// of d. What has no name gets a zero value, which the callee has no name for
// either.
func (f *file) call(d *ast.FuncDecl, name string) string {
	var b strings.Builder
	if d.Type.Results != nil {
		b.WriteString("return ")
	}
	if d.Recv != nil {
		fmt.Fprintf(&b, "%s.", f.arguments(d.Recv)[0])
	}
	b.WriteString(name)
	if d.Type.TypeParams != nil {
		fmt.Fprintf(&b, "[%s]", strings.Join(f.arguments(d.Type.TypeParams), ", "))
	}
	fmt.Fprintf(&b, "(%s)", strings.Join(f.arguments(d.Type.Params), ", "))
	if d.Type.Results == nil {
		b.WriteString("; return")
	}
	return b.String()
}

// arguments returns what is to be passed for each parameter of a list.
func (f *file) arguments(list *ast.FieldList) (args []string) {
	for _, field := range list.List {
		zero, dots := fmt.Sprintf("(*new(%s))", f.between(field.Type.Pos(), field.Type.End())), ""
		if _, variadic := field.Type.(*ast.Ellipsis); variadic {
			zero, dots = "nil", "..."
		}
		if len(field.Names) == 0 {
			args = append(args, zero+dots)
		}
		for _, name := range field.Names {
			arg := name.Name
			if arg == "_" {
				arg = zero
			}
			args = append(args, arg+dots)
		}
	}
	return args
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
	b.Write(f.appended)
	return b.Bytes()
}

// choice returns a file that says which of its mutants a package has to be.
func (f *folder) choice() []byte {
	b := fmt.Appendf(nil, "package %s\n\nimport \"os\"\n\nvar (\n", f.name)
	for _, m := range f.chosen {
		b = fmt.Appendf(b, "\t%s = os.Getenv(\"CURATOR_MUTANT\") == %q\n", m.identifier(), m.name)
	}
	return append(b, ")\n"...)
}
