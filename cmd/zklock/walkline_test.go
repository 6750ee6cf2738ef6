package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/inspect"
)

// The line fits the terminal, does not mix with rows, and is gone at the end.
func TestWalkLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var terminal bytes.Buffer
		line := &walkLine{out: &terminal, width: 20}
		line.report(inspect.Progress{Nodes: 12, Recipes: 3, Path: "/a/long/path\n"})
		require.Equal(t, "\r\x1b[K12 nodes, 3 found, ", terminal.String())
		time.Sleep(walkLineInterval - 1)
		line.report(inspect.Progress{Nodes: 13})
		require.NotContains(t, terminal.String(), "13", "it does not change too often")
		time.Sleep(time.Nanosecond)
		line.report(inspect.Progress{Nodes: 14})
		require.Contains(t, terminal.String(), "14 nodes")
		terminal.Reset()
		io.WriteString(line.above(&terminal), "row\n")
		require.Equal(t, "\r\x1b[Krow\n", terminal.String())
		line.clear()
		require.Equal(t, "\r\x1b[Krow\n", terminal.String(), "there is no line any more")
	})
}

// What is no terminal gets no line, and a short walk shows none.
func TestWalkLineIsForPeople(t *testing.T) {
	var file bytes.Buffer
	e := &env{streams: streams{nil, nil, &file}, settings: defaults()}
	line := e.walkLine()
	line.due = time.Time{}
	line.report(inspect.Progress{Nodes: 1})
	line.clear()
	require.Empty(t, file.String())

	line = &walkLine{out: &file, width: 80, due: time.Now().Add(time.Hour)}
	line.report(inspect.Progress{Nodes: 1, Path: strings.Repeat("x", 100)})
	line.clear()
	require.Empty(t, file.String())
}
