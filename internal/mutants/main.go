// Command mutants breaks the rules of the library, one at a time, and runs the test
// that must notice: a test that cannot fail proves nothing.
//
//	go run ./internal/mutants [-times N] [-p N] [NAME...]
//
// A mutant replaces a text in the body of one function. The file
// .ci/mutants/DIR.txt has the mutants of the package in DIR:
//
//	mutant: a-name
//	rule: what the mutant breaks
//	func: (*T).Method
//	test: FOLDER TestName or FOLDER TestName/PATTERN
//	-the old text, which is once in the function
//	+the new text
//
// All mutants are compiled into one program for each package of tests. With the
// environment variable CURATOR_MUTANT=NAME, such a program behaves as the mutant,
// and without it as the library does.
//
// The exit status is 1 if a mutant survives, or does not fit. A mutant does not fit if
// its function or its test does not exist, or if its old text does not occur in the
// function exactly once. If a mutant cannot be compiled, no test is run. A NAME may be
// a regular expression. With -times, each mutant must be killed that many times, on one
// processor, on two and on four in turn.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	var o options
	flag.IntVar(&o.times, "times", 1, "run each mutant `n` times")
	flag.IntVar(&o.processes, "p", runtime.NumCPU(), "run `n` mutants at a time")
	flag.Parse()
	o.names = flag.Args()
	root, err := os.Getwd()
	if err == nil {
		err = run(context.Background(), os.Stdout, root, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

type options struct {
	times     int
	processes int
	names     []string
}

// run runs the mutants of the catalogue below root. It prints mutants that survive or
// do not fit, and returns an error if there are any.
func run(ctx context.Context, out io.Writer, root string, o options) error {
	begin := time.Now()
	all, err := readMutants(root)
	if err != nil {
		return err
	}
	chosen, err := withNames(all, o.names)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := programs{root: root, dir: dir}
	fitting, misfits, err := p.build(chosen)
	if err != nil {
		return err
	}
	for _, m := range chosen {
		if why, ok := misfits[m]; ok {
			fmt.Fprintf(out, "%s: %s does not fit: %s\n", m.place, m.name, why)
		}
	}
	compiled := time.Since(begin)
	survivors, err := p.kill(ctx, out, fitting, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d mutants of %d: %d killed, %d survived, %d do not fit; compiled in %v, run in %v\n",
		len(chosen), len(all), len(fitting)-survivors, survivors, len(misfits),
		compiled.Round(time.Second), (time.Since(begin) - compiled).Round(time.Second))
	if survivors+len(misfits) > 0 {
		return fmt.Errorf("%d survived, %d do not fit", survivors, len(misfits))
	}
	return nil
}

// withNames returns the mutants with the given names, or all mutants.
func withNames(all []*mutant, names []string) (chosen []*mutant, err error) {
	if len(names) == 0 {
		return all, nil
	}
	pattern, err := regexp.Compile("^(?:" + strings.Join(names, "|") + ")$")
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if pattern.MatchString(m.name) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no mutant has the name %s", strings.Join(names, " or "))
	}
	return chosen, nil
}

// build compiles the tests with the mutants that fit. It returns these mutants, and for
// each other mutant the reason why it does not fit.
func (p programs) build(mutants []*mutant) (fitting []*mutant, misfits map[*mutant]string, err error) {
	t, err := readTree(p.root, mutants)
	if err != nil {
		return nil, nil, err
	}
	misfits = t.mutate(mutants)
	fitting = slices.DeleteFunc(slices.Clone(mutants), func(m *mutant) bool { return misfits[m] != "" })
	if len(fitting) == 0 {
		return nil, misfits, nil
	}
	if err := t.write(p.dir); err != nil {
		return nil, nil, err
	}
	return fitting, misfits, p.compile(fitting)
}

// kill runs the tests of the mutants. It prints the survivors, and returns their
// number.
func (p programs) kill(ctx context.Context, out io.Writer, mutants []*mutant, o options) (survivors int, err error) {
	var processors []string // one processor, two and four in turn
	if o.times > 1 {
		processors = []string{"-test.cpu=1,2,4"}
	}
	if err := p.check(ctx, mutants, o.processes, processors...); err != nil {
		return 0, err
	}
	var mu sync.Mutex // protects survivors and out
	err = each(mutants, o.processes, func(m *mutant) error {
		survived, hint := 0, ""
		for i := range o.times {
			flags := processors
			if o.times > 1 {
				flags = []string{fmt.Sprintf("-test.cpu=%d", 1<<(i%3))}
			}
			passes, log, err := p.run(ctx, m.name, m.testFolder, m.pattern(), flags...)
			if err != nil {
				return err
			}
			if !passes {
				continue
			}
			survived++
			if strings.Contains(log, timedOut) {
				hint = "\n    the test hangs, which notices nothing"
			}
			if strings.Contains(log, "testing: warning: no tests to run") {
				hint = "\n    there is no such test"
			}
		}
		if survived == 0 {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		survivors++
		fmt.Fprintf(out, "%s: %s survived %d times of %d\n    rule: %s\n    func: %s\n    test: %s %s%s\n",
			m.place, m.name, survived, o.times, m.rule, m.function, m.testFolder, m.test, hint)
		return nil
	})
	return survivors, err
}
