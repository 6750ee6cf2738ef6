package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// The line fits the terminal, does not mix with rows, and is gone at the end.
func TestWalkLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var terminal bytes.Buffer
		line := &walkLine{out: &terminal, width: 20}
		line.enter("/a/long/path\n")
		require.Equal(t, "\r\x1b[K1 nodes, at \"/a/lon", terminal.String())
		time.Sleep(walkLineInterval - 1)
		line.enter("/b")
		require.NotContains(t, terminal.String(), "/b", "it does not change too often")
		time.Sleep(time.Nanosecond)
		line.enter("/c")
		require.Contains(t, terminal.String(), "3 nodes, at /c")
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
	line.enter("/a")
	line.clear()
	require.Empty(t, file.String())

	line = &walkLine{out: &file, width: 80, due: time.Now().Add(time.Hour)}
	line.enter(strings.Repeat("x", 100))
	line.clear()
	require.Empty(t, file.String())
}
