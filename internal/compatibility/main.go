// Compatibility runs tests with other versions of ZooKeeper, Java Curator,
// kazoo, Go and operating systems, and writes docs/COMPATIBILITY.md from what
// they have shown. The results of all runs are kept in docs/compatibility.json:
// a run replaces the results of what it ran, and leaves the others.
//
//	.ci/compatibility -list            # what can be run
//	.ci/compatibility 'ZooKeeper 3.9'  # all whose names begin like this
//	.ci/compatibility                  # all of it, for an hour
//	.ci/compatibility -write           # no runs: the page from the results
//
// It needs what .ci/run installs, and a network for versions that are not
// installed. Maven fetches servers and Java Curator, pip fetches kazoo, and the
// go command fetches other versions of itself. A check that cannot be run, such
// as one of a version that is not served, leaves no result.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

const (
	resultsFile = "docs/compatibility.json"
	pageFile    = "docs/COMPATIBILITY.md"
)

func main() {
	list := flag.Bool("list", false, "print what can be run")
	write := flag.Bool("write", false, "write the page from the results that there are")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case *list:
		for _, s := range subjects() {
			for _, c := range s.checks {
				fmt.Println(s.name()+":", c.name)
			}
		}
	case *write:
		err = writePage()
	default:
		err = runAll(ctx, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compatibility:", err)
		os.Exit(1)
	}
}

// runAll runs each subject whose name begins with one of the prefixes, or all of
// them, and writes results and page after each check. A check that fails is a
// result, and no error.
func runAll(ctx context.Context, prefixes []string) error {
	ran := 0
	for _, s := range subjects() {
		if !selected(s.name(), prefixes) {
			continue
		}
		for _, c := range s.checks {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			ran++
			fmt.Printf("== %s: %s\n", s.name(), c.name)
			r, err := runCheck(ctx, s, c)
			if err != nil {
				fmt.Println("   not run:", err)
				continue
			}
			fmt.Printf("   %s\n", r.summary())
			if err := record(r); err != nil {
				return err
			}
		}
	}
	if ran == 0 {
		return fmt.Errorf("nothing is named %q: see -list", prefixes)
	}
	return nil
}

func selected(name string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return len(prefixes) == 0
}

// record adds a result to those that there are, and writes the page.
func record(r result) error {
	results, err := readResults(resultsFile)
	if err != nil {
		return err
	}
	if err := writeResults(resultsFile, results.with(r)); err != nil {
		return err
	}
	return writePage()
}

func writePage() error {
	results, err := readResults(resultsFile)
	if err != nil {
		return err
	}
	return os.WriteFile(pageFile, []byte(page(subjects(), results)), 0o644)
}
