package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/gocurator/curator/testing/zkserver"
)

// commands are what is measured, as arguments of go test.
var commands = []string{
	"./recipes/locks -run ^TestCostDoesNotGrowWithTheCrowd$ -growth 10,100,1000,10000 -v -timeout 30m",
	"./recipes/locks -run ^$ -bench ^BenchmarkAgainstZkLock$ -benchtime 10x -timeout 30m",
	"./recipes/locks -run ^$ -bench ^BenchmarkCrowdOfOneClient$ -benchtime 1x -crowds 10000 -timeout 60m",
	"./recipes/locks -run ^$ -bench ^BenchmarkUncontended$ -benchtime 3000x -timeout 30m",
	"./recipes/locks -run ^$ -bench ^Benchmark(MultiLock|CachedLock)$ -benchtime 1000x -timeout 30m",
	"./testing/interop -run ^$ -bench ^BenchmarkAgainstCurator$ -benchtime 10x -timeout 60m",
	"./testing/interop -run ^$ -bench ^BenchmarkIncrements$ -benchtime 10x -timeout 30m",
	"./testing/interop -run ^$ -bench ^BenchmarkFirstSync$ -benchtime 3x -timeout 30m",
}

// measure runs the commands that match, one after the other, and writes what they
// print to a file. What others have printed before stays.
func measure(match *regexp.Regexp, file string) error {
	before, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	printed := sections(string(before))
	for _, command := range commands {
		if !match.MatchString(command) {
			continue
		}
		if printed[command], err = run(command); err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
	}
	var all strings.Builder
	for _, command := range commands {
		if printed[command] == "" {
			continue // it was never run
		}
		fmt.Fprintf(&all, "%s%s\n%s\n", start, command, printed[command])
	}
	return os.WriteFile(file, []byte(all.String()), 0o644)
}

// start is the start of the line before what a command has printed.
const start = "command: go test "

// sections returns what each command has printed.
func sections(text string) map[string]string {
	printed := map[string]string{}
	for _, section := range strings.Split("\n"+text, "\n"+start)[1:] {
		command, rest, _ := strings.Cut(section, "\n")
		printed[command] = strings.TrimRight(rest, "\n") + "\n"
	}
	return printed
}

// run returns what a command prints, below the facts about the machine.
func run(command string) (string, error) {
	var out bytes.Buffer
	for _, fact := range facts() {
		fmt.Fprintln(&out, fact)
	}
	cmd := exec.Command("go", append([]string{"test", "-count=1"}, strings.Fields(command)...)...)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, os.Stderr), os.Stderr
	err := cmd.Run()
	return out.String(), err
}

// facts are about the machine, as the lines of configuration of Go's benchmarks.
func facts() []string {
	return []string{
		"date: " + time.Now().UTC().Format(time.DateOnly),
		"go: " + runtime.Version(),
		"processors: " + fmt.Sprint(runtime.NumCPU()),
		"commit: " + output("git", "rev-parse", "--short", "HEAD"),
		"java: " + firstLine(output("java", "-version")),
		"curator: " + curatorVersion(),
		"zookeeper: " + zookeeperVersion(),
	}
}

// zookeeperVersion is of the server that benchmarks find. It need not be Debian's.
func zookeeperVersion() string {
	d, err := zkserver.Find()
	if err != nil || d.Version == "" {
		return "unknown"
	}
	return d.Version
}

// curatorVersion is of the jars that the tests in testing/interop find.
func curatorVersion() string {
	dir := os.Getenv("CURATOR_JAVA_JARS")
	if dir == "" {
		return output("dpkg-query", "-W", "-f", "${Version}", "libcurator-recipes-java")
	}
	jars, _ := filepath.Glob(filepath.Join(dir, "curator-recipes-*.jar")) // the pattern is well-formed
	if len(jars) != 1 {
		return "unknown"
	}
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(jars[0]), "curator-recipes-"), ".jar")
}

// output returns what a program prints, or "unknown".
func output(name string, args ...string) string {
	text, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
