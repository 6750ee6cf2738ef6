package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// file is a file of source code, and what its mutants add to it.
type file struct {
	text   []byte
	syntax *ast.File

	inserted map[int][]byte // the keys are offsets in text
	appended []byte
}

func parse(text []byte) (*file, error) {
	syntax, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &file{text: text, syntax: syntax, inserted: map[int][]byte{}}, nil
}

// between returns the text between two positions. The file is the only one of
// its set, whose positions begin at 1.
func (f *file) between(from, to token.Pos) string { return string(f.text[from-1 : to-1]) }

// mutate adds each function that differs in the changed text, under another
// name. The original calls it when the mutant is chosen.
func (f *file) mutate(mutant string, changed []byte) error {
	g, err := parse(changed)
	if err != nil {
		return err
	}
	if !f.differsInBodiesOnly(g) {
		return errors.New("the patch changes more than the bodies of functions")
	}
	originals, changes := f.functions(), g.functions()
	for _, header := range slices.Sorted(maps.Keys(changes)) {
		ours, theirs := originals[header], changes[header]
		if f.between(ours.Pos(), ours.End()) == g.between(theirs.Pos(), theirs.End()) {
			continue
		}
		name := ours.Name.Name + "_" + identifier(mutant)
		f.appended = fmt.Appendf(f.appended, "\n%s%s%s\n",
			g.between(theirs.Pos(), theirs.Name.Pos()), name, g.between(theirs.Name.End(), theirs.End()))
		at := int(ours.Body.Lbrace) // the offset behind the brace
		f.inserted[at] = fmt.Appendf(f.inserted[at], " if %s { %s };", identifier(mutant), f.call(ours, name))
	}
	return nil
}

// functions returns the functions by everything that stands before their bodies.
func (f *file) functions() map[string]*ast.FuncDecl {
	byHeader := map[string]*ast.FuncDecl{}
	for _, decl := range f.syntax.Decls {
		if d, ok := decl.(*ast.FuncDecl); ok && d.Body != nil {
			byHeader[f.between(d.Pos(), d.Body.Lbrace)] = d
		}
	}
	return byHeader
}

// differsInBodiesOnly reports whether the files have the same declarations but
// for the bodies of functions. The other may do without some imports.
func (f *file) differsInBodiesOnly(other *file) bool {
	imports, rest := f.declarations()
	theirImports, theirRest := other.declarations()
	for _, path := range theirImports {
		if !slices.Contains(imports, path) {
			return false
		}
	}
	return slices.Equal(rest, theirRest)
}

// declarations returns the imports, and the texts of all other declarations
// without the bodies of functions.
func (f *file) declarations() (imports, rest []string) {
	for _, spec := range f.syntax.Imports {
		imports = append(imports, f.between(spec.Pos(), spec.End()))
	}
	for _, decl := range f.syntax.Decls {
		end := decl.End()
		switch d := decl.(type) {
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
		case *ast.FuncDecl:
			if d.Body != nil {
				end = d.Body.Lbrace
			}
		}
		rest = append(rest, f.between(decl.Pos(), end))
	}
	return imports, rest
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

// choice returns a file that tells which of its mutants a package has to be.
func choice(name string, mutants []string) []byte {
	b := fmt.Appendf(nil, "package %s\n\nimport \"os\"\n\nvar (\n", name)
	for _, m := range mutants {
		b = fmt.Appendf(b, "\t%s = os.Getenv(\"CURATOR_MUTANT\") == %q\n", identifier(m), m)
	}
	return append(b, ")\n"...)
}

func identifier(mutant string) string { return "mutant_" + strings.ReplaceAll(mutant, "-", "_") }
