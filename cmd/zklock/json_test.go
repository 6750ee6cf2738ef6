package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/cmd/zklock/internal/view"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/recipes/locks"
)

// JSON has no character that a terminal hides or obeys. It has the same meaning.
func TestJSONCanBePrinted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		path := "/l/\u202eevil\ufeff<größe>"
		node(t, s.client(t), path+"/"+guid(1)+"lock-", identity("orders", 1))
		for _, command := range []string{"ls", "show"} {
			out := strings.TrimSuffix(s.zklock(t, command, "-o", "json", path).out, "\n")
			require.True(t, printable.Is(out), out)
			require.Contains(t, out, "<größe>", "what can be printed is")
			var lock view.Lock
			require.NoError(t, json.Unmarshal([]byte(out), &lock))
			require.Equal(t, path, lock.Path)
		}
		var out bytes.Buffer
		e := &env{streams: streams{out: &out}, settings: &settings{format: jsonForm}}
		require.NoError(t, printLeader(e, path, locks.Participant{Path: path + "/latch-0000000001"}))
		require.True(t, printable.Is(strings.TrimSuffix(out.String(), "\n")), out.String())
	})
}

// What run, elect and the doctor print for programs has names as the README
// says, and durations with their unit.
func TestNamesInJSON(t *testing.T) {
	second := view.Seconds(1)
	for want, value := range map[string]any{
		"fencing_token holder node path session_id":      holding{},
		"fencing_token holder node path session_id time": observed{Leader: "a", Node: "/a", Token: 1, Session: "0x1"},
		"offset_seconds type uncertainty_seconds":        clock{Offset: &second, Uncertainty: &second},
		"answers latency_seconds server_address type":    server{Latency: &second},
	} {
		text, err := json.Marshal(value)
		require.NoError(t, err)
		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &fields))
		names := slices.Sorted(maps.Keys(fields))
		require.Equal(t, want, strings.Join(names, " "))
	}
}
