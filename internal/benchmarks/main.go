package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
)

// The files, from the root of the repository.
const (
	resultsFile = "docs/benchmarks.txt"
	pageFile    = "BENCHMARKS.md"
	plotFile    = "docs/growth.svg"
)

func main() {
	again := flag.String("measure", "", "measure the parts whose names match this regular expression first")
	flag.Parse()
	if err := write(*again); err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
}

// write writes the page, even if a part has failed.
func write(again string) error {
	var failed error
	if again != "" {
		match, err := regexp.Compile(again)
		if err != nil {
			return err
		}
		failed = measure(match, resultsFile)
	}
	return errors.Join(failed, writePage())
}

func writePage() error {
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
