package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// If the environment asks for a ZooKeeper of Maven's, Curator is Maven's, too.
const (
	envMaven      = "CURATOR_ZOOKEEPER_MAVEN"
	newestCurator = "5.9.0"
)

// measure runs the parts whose names match, one after the other, and writes what
// they print to a file, after each of them. What others have printed before stays,
// and also what one has printed before that fails now. But a row that was another
// part's before is only in the new one.
func measure(match *regexp.Regexp, file string) error {
	chosen := slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return !match.MatchString(p.name) })
	if len(chosen) == 0 {
		return fmt.Errorf("no part matches %v: see parts.go", match)
	}
	before, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	printed := sections(string(before))
	var failed []error
	for _, p := range chosen {
		text, err := run(p)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w%s", p.name, err, kept(text)))
			continue
		}
		dropRows(printed, text)
		printed[p.name] = text
		if err := os.WriteFile(file, []byte(joined(printed)), 0o644); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}

// kept writes what a part has printed that fails to a file of its own, so that its
// other rows are not lost, and returns the words that say where.
func kept(text string) string {
	file, err := os.CreateTemp("", "benchmarks-")
	if err != nil {
		return "; what it printed is lost: " + err.Error()
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		return "; what it printed is lost: " + err.Error()
	}
	return "; what it printed is in " + file.Name()
}

// dropRows takes the rows that a text has out of all sections.
func dropRows(printed map[string]string, text string) {
	known := map[string]bool{}
	for line := range strings.Lines(text) {
		known[nameOf(line)] = true
	}
	delete(known, "")
	for name, section := range printed {
		lines := slices.DeleteFunc(slices.Collect(strings.Lines(section)), func(line string) bool { return known[nameOf(line)] })
		printed[name] = strings.Join(lines, "")
	}
}

// nameOf returns the name of the row in a line, or nothing.
func nameOf(line string) string {
	if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[0], "Benchmark") {
		return fields[0]
	}
	return ""
}

// joined returns the sections in their order. What is no longer measured goes.
func joined(printed map[string]string) string {
	var all strings.Builder
	for _, p := range parts {
		if printed[p.name] != "" { // it was run once
			fmt.Fprintf(&all, "%s%s\n%s\n", start, p.name, printed[p.name])
		}
	}
	return all.String()
}

// start is the start of the line before what a part has printed.
const start = "part: "

// sections returns what each part has printed.
func sections(text string) map[string]string {
	printed := map[string]string{}
	for _, section := range strings.Split("\n"+text, "\n"+start)[1:] {
		name, rest, _ := strings.Cut(section, "\n")
		printed[name] = strings.TrimRight(rest, "\n") + "\n"
	}
	return printed
}

var errNoRow = errors.New("it has measured nothing")

// run returns what a part prints, below the facts about the machine. A part that is
// skipped is an error: it would take the place of what was measured before.
func run(p part) (string, error) {
	var out bytes.Buffer
	args := append([]string{"test", "-tags", "real", "-count=1"}, strings.Fields(p.args)...)
	if strings.Contains(p.args, "testing/interop ") && os.Getenv(envMaven) != "" {
		args = append(args, "-curator", newestCurator)
	}
	fmt.Fprintln(&out, "command: go "+strings.Join(args, " "))
	for _, fact := range facts() {
		fmt.Fprintln(&out, fact)
	}
	fmt.Fprintln(os.Stderr, start+p.name)
	begin := time.Now()
	cmd := exec.Command("go", args...)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, os.Stderr), os.Stderr
	err := cmd.Run()
	took := "took: " + time.Since(begin).Round(time.Second).String() // the compiler's time is in it
	fmt.Fprintln(os.Stderr, took)
	fmt.Fprintln(&out, took)
	if err == nil && !slices.ContainsFunc(strings.Split(out.String(), "\n"), func(line string) bool { return nameOf(line) != "" }) {
		err = errNoRow
	}
	return out.String(), err
}
