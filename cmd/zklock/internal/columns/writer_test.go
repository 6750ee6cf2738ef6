package columns_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/cmd/zklock/internal/columns"
)

// Columns are aligned by characters, and the last one has no spaces behind it.
func TestColumnsAreAligned(t *testing.T) {
	var out bytes.Buffer
	w := columns.New(&out, false)
	require.NoError(t, w.Header("PATH", "KIND", "HOLDER"))
	require.NoError(t, w.Row(columns.Cells("/größe", "mutex", "a")...))
	require.NoError(t, w.Row(columns.Cells("/b", "", "b")...))
	require.Empty(t, out.String(), "rows of a block are aligned together")
	require.NoError(t, w.Flush())
	require.Equal(t, "PATH    KIND   HOLDER\n/größe  mutex  a\n/b      -      b\n", out.String())
}

// A character of two columns counts as two, and an accent as none. A very long
// text moves its own row.
func TestColumnsOfATerminalAreCounted(t *testing.T) {
	var out bytes.Buffer
	w := columns.New(&out, false)
	require.NoError(t, w.Row(columns.Cells("/日本語", "x")...))
	require.NoError(t, w.Row(columns.Cells("/größe", "x")...))
	require.NoError(t, w.Row(columns.Cells("/gro\u0308ße", "x")...))
	require.NoError(t, w.Row(columns.Cells(strings.Repeat("棚", 100), "x")...))
	require.NoError(t, w.Flush())
	require.Equal(t, "/日本語  x\n/größe   x\n/gro\u0308ße   x\n"+strings.Repeat("棚", 100)+"  x\n", out.String())
}

func TestTextsAreCutAtColumns(t *testing.T) {
	for text, want := range map[string]string{"abc": "abc", "abcd": "abc", "日本": "日", "a日本": "a日", "o\u0308bcd": "o\u0308bc", "": ""} {
		require.Equal(t, want, columns.Cut(text, 3), text)
	}
	for text, want := range map[string]string{"abcd": "abcd", "abcde": "abc…", "日本": "日本", "日本語": "日…"} {
		require.Equal(t, want, columns.Shorten(text, 4), text)
	}
}

// Columns that were reserved are as wide from the first row.
func TestReservedColumns(t *testing.T) {
	var out bytes.Buffer
	w := columns.New(&out, false)
	w.Reserve(5)
	for _, text := range []string{"a", "abcde"} {
		require.NoError(t, w.Row(columns.Cells(text, "x")...))
		require.NoError(t, w.Flush())
	}
	require.Equal(t, "a      x\nabcde  x\n", out.String())
}

// A terminal gets colours, and the same columns.
func TestColoursDoNotMoveColumns(t *testing.T) {
	plain, coloured := write(t, false), write(t, true)
	require.NotContains(t, plain, "\x1b")
	require.Contains(t, coloured, "\x1b[32mon\x1b[0m ")
	for _, style := range []columns.Style{columns.Header, columns.Good, columns.Bad, ""} {
		coloured = strings.ReplaceAll(coloured, "\x1b["+string(style)+"m", "")
	}
	require.Equal(t, plain, strings.ReplaceAll(coloured, "\x1b[0m", ""))
}

func write(t *testing.T, colour bool) string {
	t.Helper()
	var out bytes.Buffer
	w := columns.New(&out, colour)
	require.NoError(t, w.Header("STATE", "NAME"))
	require.NoError(t, w.Row(columns.Cell{Text: "on", Style: columns.Good}, columns.Cell{Text: "a"}))
	require.NoError(t, w.Row(columns.Cell{Text: "off", Style: columns.Bad}, columns.Cell{}))
	require.NoError(t, w.Flush())
	return out.String()
}

// Rows are written while others still come, and later columns do not shrink.
func TestLongTableIsWrittenBlockByBlock(t *testing.T) {
	var out bytes.Buffer
	w := columns.New(&out, false)
	const rows = 10_000
	kept := 0
	for i := range rows {
		require.NoError(t, w.Row(columns.Cells(fmt.Sprint("/", rows-i), "x")...))
		kept = max(kept, i+1-bytes.Count(out.Bytes(), []byte("\n")))
	}
	require.NoError(t, w.Flush())
	require.Less(t, kept, 300)
	require.Equal(t, rows, strings.Count(out.String(), "\n"))
	require.True(t, strings.HasSuffix(out.String(), "\n/1      x\n"))
}

type brokenPipe struct{}

var errBroken = errors.New("broken pipe")

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

// A reader that has gone, such as head, ends the list.
func TestErrorOfTheReaderIsReturned(t *testing.T) {
	w := columns.New(brokenPipe{}, false)
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		err = w.Row(columns.Cells("x")...)
	}
	require.ErrorIs(t, err, errBroken)
	require.ErrorIs(t, w.Flush(), errBroken)
}
