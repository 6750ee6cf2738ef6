//go:build real

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// kinds has functions of all kinds.
const kinds = `package kinds

import "errors"

type list[T any] []T

func (l list[T]) method(_ int, names ...string) (n int, err error) {
	defer func() {
		if err != nil {
			n = len(names)
		}
	}()
	return len(l), nil
}

type point struct{ moved bool }

func (p *point) unnamed(int, string) { p.moved = true }

func generic[K comparable, V any](m map[K]V, _ ...V) map[K]V {
	return m
}

var errRefused = errors.New("refused")
`

const kindsTest = `package kinds

import "testing"

func TestAll(t *testing.T) {
	t.Run("method", func(t *testing.T) {
		if n, err := (list[int]{1, 2}).method(1, "a"); n != 2 || err != nil {
			t.Fatal(n, err)
		}
	})
	t.Run("unnamed", func(t *testing.T) {
		var p point
		if p.unnamed(1, ""); !p.moved {
			t.Fatal()
		}
	})
	t.Run("generic", func(t *testing.T) {
		if generic(map[int]string{1: "a"}, "x") == nil {
			t.Fatal()
		}
	})
}
`

const killed = `mutant: method
rule: it succeeds
func: list.method
test: kinds TestAll/method
-return len(l), nil
+return len(l), errRefused

mutant: unnamed
rule: it moves
func: (*point).unnamed
test: kinds TestAll/unnamed
-p.moved = true

mutant: generic
rule: it returns something
func: generic
test: kinds TestAll/generic
-return m
+return nil
`

const survives = `
mutant: survivor
rule: it counts
func: list.method
test: kinds TestAll/generic
-n = len(names)
+n = 7
`

const misfits = `
mutant: misfit
rule: it compiles
func: list.method
test: kinds TestAll/method
-n = lost(names)
+n = m
`

// A run kills, and names what survives and what does not fit.
func TestRun(t *testing.T) {
	root := t.TempDir()
	play := func(o options) (string, error) {
		o.processes = 2
		var out bytes.Buffer
		err := run(t.Context(), &out, root, o)
		return out.String(), err
	}
	put(t, root, "go.mod", "module example.com/kinds\n\ngo 1.25\n")
	put(t, root, "kinds/kinds.go", kinds)
	put(t, root, "kinds/kinds_test.go", kindsTest)
	put(t, root, catalogue+"/kinds.txt", killed)

	out, err := play(options{times: 2})
	require.NoError(t, err, out)
	require.Contains(t, out, "3 mutants of 3: 3 killed, 0 survived, 0 do not fit")

	put(t, root, catalogue+"/kinds.txt", killed+survives+misfits)
	out, err = play(options{times: 1})
	require.EqualError(t, err, "1 survived, 1 do not fit")
	require.Contains(t, out, "misfit does not fit: the old text is 0 times in list.method")
	require.Contains(t, out, "survivor survived 1 times of 1\n"+
		"    rule: it counts\n    func: list.method\n    test: kinds TestAll/generic\n")
	require.Contains(t, out, "5 mutants of 5: 3 killed, 1 survived, 1 do not fit")

	out, err = play(options{times: 1, names: []string{"m.*d"}})
	require.NoError(t, err)
	require.Contains(t, out, "1 mutants of 5: 1 killed")
	_, err = play(options{names: []string{"none"}})
	require.EqualError(t, err, "no mutant has the name none")
	put(t, root, catalogue+"/kinds.txt", strings.Replace(misfits, "n = lost(names)", "n = len(names)", 1))
	_, err = play(options{times: 1})
	require.ErrorContains(t, err, "/mutant/misfit:4:8: undefined: m")
}
