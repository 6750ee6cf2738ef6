package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// runCheck runs the go command of a check. A run whose tests fail is a result.
// The error says why there is none.
func runCheck(ctx context.Context, s subject, c check) (result, error) {
	env := c.env
	if c.prepare != nil {
		more, err := c.prepare(ctx)
		if err != nil {
			return result{}, err
		}
		env = slices.Concat(env, more)
	}
	args := slices.Clone(c.args)
	if !c.compiles {
		args = slices.Insert(args, 1, "-json")
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	failure := cmd.Run()
	if ctx.Err() != nil {
		return result{}, ctx.Err()
	}
	r := result{
		Kind: s.kind, Version: s.version, Check: c.name,
		Date: time.Now().UTC().Format(time.DateOnly), Host: runtime.GOOS + "/" + runtime.GOARCH,
		Commit: commit(ctx), Command: strings.Join(slices.Concat(env, []string{"go"}, c.args), " "),
	}
	if c.compiles {
		if failure != nil {
			r.Failed = []string{firstLine(stderr.String())}
		}
		return r, nil
	}
	if err := r.count(stdout.Bytes(), c.counted); err != nil {
		return result{}, err
	}
	if len(r.Failed) > 0 {
		return r, nil
	}
	if failure != nil {
		return result{}, fmt.Errorf("go test: %w: %s", failure, firstLine(stderr.String()))
	}
	if r.Passed == 0 {
		return result{}, errors.New("no test has run that counts")
	}
	return r, nil
}

// event is a line of go test -json.
type event struct{ Action, Package, Test string }

// count reads what go test -json printed. Of the tests, only those whose names
// end with the given text count. Failures count all, by the names of the
// innermost tests that have failed.
func (r *result) count(output []byte, ending string) error {
	broken := map[string]bool{} // packages that have failed, by a test or otherwise
	lines := bufio.NewScanner(bytes.NewReader(output))
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			continue // what the go command says itself
		}
		switch {
		case e.Action == "fail" && e.Test == "":
			if !broken[e.Package] {
				r.Failed = append(r.Failed, e.Package) // such as by a panic
			}
		case e.Action == "fail":
			broken[e.Package] = true
			r.addFailure(e.Test)
		case e.Test == "" || !strings.HasSuffix(e.Test, ending):
		case e.Action == "pass":
			r.Passed++
		case e.Action == "skip":
			r.Skipped++
		}
	}
	slices.Sort(r.Failed)
	return lines.Err()
}

// addFailure adds a test that has failed, if none of its subtests has. Those are
// told of first.
func (r *result) addFailure(test string) {
	inside := func(failed string) bool { return strings.HasPrefix(failed, test+"/") }
	if !slices.ContainsFunc(r.Failed, inside) {
		r.Failed = append(r.Failed, test)
	}
}

// commit returns the commit of the working tree, with a plus if code was
// changed since.
func commit(ctx context.Context) string {
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--", "*.go", "go.mod", "*.java", "*.py").Output()
	if err != nil || len(changed) > 0 {
		return strings.TrimSpace(string(head)) + "+"
	}
	return strings.TrimSpace(string(head))
}

// firstLine returns the first line that is none of the go command's comments.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "go: downloading") {
			return line
		}
	}
	return ""
}
