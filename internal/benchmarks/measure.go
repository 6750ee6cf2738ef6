package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/internal/curatorjars"
)

// The environment. If a ZooKeeper of Maven's is asked for, and no jars of Curator
// are named, Curator is Maven's, too.
const (
	envMaven       = "CURATOR_ZOOKEEPER_MAVEN"
	envCuratorJars = "CURATOR_JAVA_JARS"

	newestCurator = "5.9.0"
)

// measure runs the parts whose names match, one after the other, and writes what
// they print to a file, after each of them. What others have printed before stays,
// and also what one has printed before that fails now.
func measure(match *regexp.Regexp, file string) error {
	chosen := slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return !match.MatchString(p.name) })
	if len(chosen) == 0 {
		return fmt.Errorf("no part matches %v: see parts.go", match)
	}
	if err := findCurator(); err != nil {
		return err
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
			failed = append(failed, fmt.Errorf("%s: %w", p.name, err))
			continue
		}
		printed[p.name] = text
		if err := os.WriteFile(file, []byte(joined(printed)), 0o644); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
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

func findCurator() error {
	if os.Getenv(envMaven) == "" || os.Getenv(envCuratorJars) != "" {
		return nil
	}
	jars, err := curatorjars.Fetch(context.Background(), newestCurator)
	if err != nil {
		return err
	}
	return os.Setenv(envCuratorJars, jars)
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

// run returns what a part prints, below the facts about the machine.
func run(p part) (string, error) {
	var out bytes.Buffer
	fmt.Fprintln(&out, "command: go test "+p.args)
	for _, fact := range facts() {
		fmt.Fprintln(&out, fact)
	}
	fmt.Fprintln(os.Stderr, start+p.name)
	begin := time.Now()
	cmd := exec.Command("go", append([]string{"test", "-count=1"}, strings.Fields(p.args)...)...)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, os.Stderr), os.Stderr
	err := cmd.Run()
	took := "took: " + time.Since(begin).Round(time.Second).String() // the compiler's time is in it
	fmt.Fprintln(os.Stderr, took)
	fmt.Fprintln(&out, took)
	return out.String(), err
}
