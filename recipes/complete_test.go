package recipes_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest"
)

// notInTheTable are exported functions that take a context, and why its end is
// nothing that they could mistake.
var notInTheTable = map[string]string{
	"discovery.(*Registrar).Register":   "TestCauseOfTheCallersContextMakesNoFolder of contrib/kratos has it",
	"discovery.(*Registrar).Deregister": "asks whether the context has ended before it judges an error",
	"fence.(*Guard).Raise":              "asks and waits for nothing that a context could end",
	"fence.FromContext":                 "asks for a value, and not whether the context has ended",
	"fence.Outgoing":                    "asks for a value, and not whether the context has ended",
	"framework.(*Session).AfterTrust":   "waits for the context of the session, and not for a caller's",
	"framework.Extension.OnError":       "puts a function into the context",
	"locks.LeaseFromContext":            "asks for a value, and not whether the context has ended",
}

// Every exported function and method that takes a context is called in the
// table of operations, or has a reason not to be. Modules below contrib are made
// of these.
func TestTableHasEveryOperation(t *testing.T) {
	t.Parallel()
	asked := askedInTheTable(t)
	missing := map[string]string{}
	reasons := maps.Clone(notInTheTable)
	for _, f := range takingContexts(t) {
		switch called := slices.ContainsFunc(asked, f.has); {
		case reasons[f.name] != "" && !called:
			delete(reasons, f.name)
		case !called:
			missing[f.name] = f.file
		}
	}
	require.Empty(t, missing, "add them to everyOperation, or to notInTheTable with the reason")
	require.Empty(t, reasons, "they are in the table, or no longer there")
}

// askedInTheTable runs each operation, and returns where in the library its
// context was asked, in the functions that the table calls. Answers take some
// time, because a function that need not wait may not ask.
func askedInTheTable(t *testing.T) []place {
	t.Helper()
	all := places{}
	for _, op := range everyOperation {
		synctest.Test(t, func(t *testing.T) {
			s := newScene(t)
			call := op.prepare(t, s)
			s.srv.Inject(zktest.Rule{Optional: true, Session: s.client.SessionID(), Times: -1, Do: zktest.DelayReply(10 * time.Millisecond)})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			call(askedContext{ctx, &all})
		})
	}
	return all.seen
}

// askedContext notes who asks it. Whoever gets a context and has to do with its
// end asks, at the latest through what it calls.
type askedContext struct {
	context.Context
	by *places
}

func (c askedContext) Done() <-chan struct{} { c.by.note(); return c.Context.Done() }
func (c askedContext) Err() error            { c.by.note(); return c.Context.Err() }

// place is a line of the library.
type place struct {
	file string
	line int
}

type places struct {
	mu   sync.Mutex // protects seen
	seen []place
}

// note looks in the stack for the function that a test has called. It goes by
// files, because a closure of a function that was inlined has the name of the
// test's function.
func (p *places) note() {
	pcs := make([]uintptr, 200)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	var last place
	for {
		frame, more := frames.Next()
		switch {
		case strings.HasSuffix(frame.File, "_test.go"):
			p.mu.Lock()
			defer p.mu.Unlock()
			p.seen = append(p.seen, last)
			return
		case strings.HasPrefix(frame.Function, "github.com/gocurator/curator/"):
			last = place{frame.File, frame.Line}
		}
		if !more {
			return
		}
	}
}

// function is one of the library, with the lines of its body.
type function struct {
	name        string
	file        string
	first, last int
}

func (f function) has(p place) bool {
	return strings.HasSuffix(p.file, f.file) && f.first <= p.line && p.line <= f.last
}

// takingContexts returns the exported functions and methods of the library that
// take a context. Programs, and what is for tests, are no part of it.
func takingContexts(t *testing.T) (all []function) {
	t.Helper()
	const root = ".."
	require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch name := e.Name(); {
		case err != nil:
			return err
		case e.IsDir() && slices.Contains([]string{"internal", "cmd", "contrib", "examples", "testing"}, name):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			all = append(all, takingContextsIn(t, path, strings.TrimPrefix(filepath.ToSlash(path), root))...)
		}
		return nil
	}))
	return all
}

func takingContextsIn(t *testing.T, path, file string) (all []function) {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !f.Name.IsExported() || !slices.ContainsFunc(f.Type.Params.List, isContext) {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil {
			receiver := receiverOf(f)
			if !ast.IsExported(strings.Trim(receiver, "(*)")) {
				continue
			}
			name = receiver + "." + name
		}
		all = append(all, function{parsed.Name.Name + "." + name, file, files.Position(f.Pos()).Line, files.Position(f.End()).Line})
	}
	return all
}

func isContext(f *ast.Field) bool {
	s, ok := f.Type.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Context"
}

// receiverOf returns the type of a method's receiver as a stack has it, without
// parameters.
func receiverOf(f *ast.FuncDecl) string {
	of := f.Recv.List[0].Type
	format := "%s"
	if pointer, ok := of.(*ast.StarExpr); ok {
		of, format = pointer.X, "(*%s)"
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	return fmt.Sprintf(format, of)
}
