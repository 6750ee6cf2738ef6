package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gocurator/curator/internal/reason"
)

// result is what one run of a check has shown.
type result struct {
	Kind    string   `json:"kind"`
	Version string   `json:"version"`
	Check   string   `json:"check"`
	Date    string   `json:"date"` // such as 2026-11-25, UTC
	Passed  int      `json:"passed,omitempty"`
	Skipped int      `json:"skipped,omitempty"`
	Failed  []string `json:"failed,omitempty"` // names of tests, or of packages, or an error of the compiler
	Host    string   `json:"host"`             // such as linux/amd64
	Commit  string   `json:"commit"`           // its hash, and a plus if something was not committed
	Command string   `json:"command"`          // its environment, and the command
}

// summary is the result in some words, such as "passed, 12 tests".
func (r result) summary() string {
	var b strings.Builder
	switch {
	case len(r.Failed) > 0 && r.Passed == 0:
		b.WriteString("failed")
	case len(r.Failed) > 0:
		fmt.Fprintf(&b, "%d of %d tests failed", len(r.Failed), r.Passed+len(r.Failed))
	case r.Passed > 0:
		fmt.Fprintf(&b, "passed, %d tests", r.Passed)
	default:
		b.WriteString("passed")
	}
	if r.Skipped > 0 {
		fmt.Fprintf(&b, ", %d skipped", r.Skipped)
	}
	return b.String()
}

type results []result

func (rs results) find(kind, version, check string) (result, bool) {
	i := slices.IndexFunc(rs, func(r result) bool { return r.Kind == kind && r.Version == version && r.Check == check })
	if i < 0 {
		return result{}, false
	}
	return rs[i], true
}

// with returns the results with a new one, in place of an older one of the same
// check.
func (rs results) with(r result) results {
	same := func(old result) bool { return old.Kind == r.Kind && old.Version == r.Version && old.Check == r.Check }
	all := append(slices.DeleteFunc(slices.Clone(rs), same), r)
	slices.SortFunc(all, func(a, b result) int {
		return strings.Compare(a.Kind+"\n"+a.Version+"\n"+a.Check, b.Kind+"\n"+b.Version+"\n"+b.Check)
	})
	return all
}

// readResults reads a file of results. One that is not there has none.
func readResults(file string) (results, error) {
	text, err := os.ReadFile(file)
	if reason.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var rs results
	if err := json.Unmarshal(text, &rs); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return rs, nil
}

func writeResults(file string, rs results) error {
	text, err := json.MarshalIndent(rs, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
