package main

import (
	"flag"
	"fmt"
	"os"
)

// The files, from the root of the repository.
const (
	resultsFile = "docs/benchmarks.txt"
	pageFile    = "BENCHMARKS.md"
	plotFile    = "docs/growth.svg"
)

func main() {
	again := flag.Bool("measure", false, "measure first")
	flag.Parse()
	if err := run(*again); err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
}

func run(again bool) error {
	if again {
		if err := measure(resultsFile); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(resultsFile)
	if err != nil {
		return err
	}
	r, err := parse(string(text))
	if err != nil {
		return err
	}
	if err := os.WriteFile(plotFile, []byte(plot(r)), 0o644); err != nil {
		return err
	}
	return os.WriteFile(pageFile, []byte(page(r)), 0o644)
}
