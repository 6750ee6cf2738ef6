package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// commands are what is measured, as arguments of go test.
var commands = []string{
	"./recipes/locks -run ^TestCostDoesNotGrowWithTheCrowd$ -growth 10,100,1000,10000 -v -timeout 30m",
	"./recipes/locks -run ^$ -bench ^BenchmarkAgainstZkLock$ -benchtime 10x -timeout 30m",
	"./recipes/locks -run ^$ -bench ^BenchmarkUncontended$ -benchtime 10x -timeout 30m",
	"./testing/interop -run ^$ -bench ^BenchmarkAgainstCurator$ -benchtime 10x -timeout 60m",
	"./testing/interop -run ^$ -bench ^BenchmarkIncrements$ -benchtime 10x -timeout 30m",
	"./testing/interop -run ^$ -bench ^BenchmarkFirstSync$ -benchtime 3x -timeout 30m",
}

// measure runs all of them, one after the other, and writes what they print.
func measure(to string) error {
	var all bytes.Buffer
	for _, fact := range facts() {
		fmt.Fprintln(&all, fact)
	}
	for _, command := range commands {
		fmt.Fprintf(&all, "\ncommand: go test %s\n", command)
		cmd := exec.Command("go", append([]string{"test", "-count=1"}, strings.Fields(command)...)...)
		cmd.Stdout, cmd.Stderr = io.MultiWriter(&all, os.Stderr), os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
	}
	return os.WriteFile(to, all.Bytes(), 0o644)
}

// facts are about the machine, as the lines of configuration of Go's benchmarks.
func facts() []string {
	return []string{
		"date: " + time.Now().UTC().Format(time.DateOnly),
		"go: " + runtime.Version(),
		"processors: " + fmt.Sprint(runtime.NumCPU()),
		"commit: " + output("git", "rev-parse", "--short", "HEAD"),
		"java: " + firstLine(output("java", "-version")),
		"curator: " + output("dpkg-query", "-W", "-f", "${Version}", "libcurator-recipes-java"),
		"zookeeper: " + output("dpkg-query", "-W", "-f", "${Version}", "zookeeper"),
	}
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
