package snapshot

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the files in testdata")

// The JSON form is for programs, such as zklock: a change of this file is a
// change of their input. The page's tests read it, too.
func TestGoldenJSON(t *testing.T) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "\t")
	require.NoError(t, e.Encode(fixture()))
	golden(t, "testdata/snapshot.json", b.Bytes())

	var back Snapshot
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
	require.Equal(t, fixture(), back)
}

func TestGoldenText(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, fixture().WriteText(&b))
	golden(t, "testdata/snapshot.txt", b.Bytes())
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "go test -update writes it anew")
}

// Text of others cannot move the cursor, begin a line, or run backwards.
func TestTextQuotesWhatOthersHaveWritten(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, fixture().WriteText(&b))
	for _, c := range []string{"\x1b", "\u202e", "\r"} {
		require.NotContains(t, b.String(), c)
	}
	require.Contains(t, b.String(), `"/locks/\x1b[31m\u202e\n<script>alert(1)</script>"`)
}

// Columns are those of a terminal, where some characters take two or none.
func TestTextIsInColumnsOfATerminal(t *testing.T) {
	c := Client{Servers: []Server{{Address: "zk1:2181"}, {Address: "主机:2181"}, {Address: "e\u0301:2181"}}}
	var b bytes.Buffer
	require.NoError(t, Snapshot{Clients: []Client{c}}.WriteText(&b))
	what := c.Servers[0].describe(time.Time{})
	require.NotEmpty(t, what)
	require.Contains(t, b.String(), "    zk1:2181   "+what+"\n    主机:2181  "+what+"\n    e\u0301:2181     "+what+"\n")
}

func TestTextOfNothing(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Snapshot{}.WriteText(&b))
	require.Contains(t, b.String(), "no clients")
	b.Reset()
	require.NoError(t, Snapshot{Clients: []Client{{}}}.WriteText(&b))
	require.Contains(t, b.String(), "connecting, never connected")
}

func TestSecondsInJSON(t *testing.T) {
	for text, want := range map[string]Seconds{
		"0": 0, "1.5": Seconds(1500 * time.Millisecond), "-0.000000001": -1,
		"1e300": Seconds((1<<63 - 1) / int64(time.Second) * int64(time.Second)),
	} {
		var s Seconds
		require.NoError(t, json.Unmarshal([]byte(text), &s), text)
		require.Equal(t, want, s, text)
	}
	var s Seconds
	require.Error(t, json.Unmarshal([]byte(`"1s"`), &s))
}
