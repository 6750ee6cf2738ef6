//go:build real

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/examples/internal/demo"
)

// The README of the examples shows what the program prints. It may differ in what
// differs from run to run.
func TestReadmeShowsTheOutput(t *testing.T) {
	status, out, _ := runProgram(t, t.Context())
	require.Equal(t, demo.AsExpected, status)
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	require.Equal(t, shape(out), shape(shown(t, string(text))))
}

var outputBlock = regexp.MustCompile(`(?m)^    Flash sale in .*\n(?:    .*\n|\n)+`)

// shown returns the output of the program in a document: the one indented block
// that begins as the output does.
func shown(t *testing.T, document string) (output string) {
	t.Helper()
	blocks := outputBlock.FindAllString(document, -1)
	require.Len(t, blocks, 1)
	for line := range strings.Lines(strings.TrimSpace(blocks[0])) {
		output += strings.TrimPrefix(line, "    ")
	}
	return output + "\n"
}

// varying is what differs from run to run: the path, who comes in which turn,
// the times and the tokens, and so the widths of the columns.
var varying = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`/flashsale/\w+`), "PATH"},
	{regexp.MustCompile(`(?m)^  order-[1-4] +(berlin|lisbon|oslo|vienna) `), "  ORDER WORKER "},
	{regexp.MustCompile(`(?m) (0s|[0-9.]+m?s) +[0-9]+$`), " TIME TOKEN"},
	{regexp.MustCompile(`\b {2,}`), " "},
}

func shape(output string) string {
	for _, v := range varying {
		output = v.pattern.ReplaceAllLiteralString(output, v.name)
	}
	return output
}
