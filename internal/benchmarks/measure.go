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

// If the environment asks for ZooKeeper from Maven, Curator comes from Maven, too.
const (
	envMaven      = "CURATOR_ZOOKEEPER_MAVEN"
	newestCurator = "5.9.0"
)

// measure runs the parts whose names match, one after the other, and after each part
// writes its output to a file. The older output of other parts, and of parts that fail
// now, stays. A row that has moved to another part is only in the new part.
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

// kept writes the output of a failed part to a separate file, so that its rows are not
// lost, and returns words that name the file.
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

// dropRows removes the rows of a text from all sections.
func dropRows(printed map[string]string, text string) {
	known := map[string]bool{}
	for line := range strings.Lines(text) {
		known[nameOf(line)] = true
	}
	delete(known, "")
	for name, section := range printed {
		lines := slices.DeleteFunc(slices.Collect(strings.Lines(section)),
			func(line string) bool { return known[nameOf(line)] })
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

// joined returns the sections in order, without parts that no longer exist.
func joined(printed map[string]string) string {
	var all strings.Builder
	for _, p := range parts {
		if printed[p.name] != "" { // the part was run once
			fmt.Fprintf(&all, "%s%s\n%s\n", start, p.name, printed[p.name])
		}
	}
	return all.String()
}

// start is the beginning of the line before a part's output.
const start = "part: "

// sections returns the output of each part.
func sections(text string) map[string]string {
	printed := map[string]string{}
	for _, section := range strings.Split("\n"+text, "\n"+start)[1:] {
		name, rest, _ := strings.Cut(section, "\n")
		printed[name] = strings.TrimRight(rest, "\n") + "\n"
	}
	return printed
}

var errNoRow = errors.New("no row was measured")

// run returns the output of a part, below the facts about the machine. A skipped part
// is an error, because it would replace the earlier results.
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
	took := "took: " + time.Since(begin).Round(time.Second).String() // includes the compiler's time
	fmt.Fprintln(os.Stderr, took)
	fmt.Fprintln(&out, took)
	isNamed := func(line string) bool { return nameOf(line) != "" }
	if err == nil && !slices.ContainsFunc(strings.Split(out.String(), "\n"), isNamed) {
		err = errNoRow
	}
	return out.String(), err
}
