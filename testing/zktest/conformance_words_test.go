package zktest

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFourLetterWordsConform(t *testing.T) {
	conform(t, "words", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/p", none)
		a.create("/p/1", flagEphemeral)
		a.create("/p/2", flagEphemeral)
		b.create("/p/3", flagEphemeral)
		for _, c := range []*player{a, b} {
			c.get("/p", true)
			c.children("/p", true)
			c.exists("/missing", true)
		}
		s.lines = append(s.lines, s.word("ruok"), s.word("isro"))
		s.values("srvr", ": ", "Mode", "Node count")
		s.values("mntr", "\t", "zk_server_state", "zk_znode_count", "zk_watch_count", "zk_ephemerals_count")
	})
}

// word sends a four-letter word and returns the answer.
func (s *stage) word(word string) string {
	nc := s.dial()
	_, err := nc.Write([]byte(word))
	require.NoError(s.t, err)
	answer, err := io.ReadAll(nc)
	require.NoError(s.t, err)
	return string(answer)
}

// values writes down the values that the servers have to agree on.
func (s *stage) values(word, separator string, keys ...string) {
	for _, line := range slices.Sorted(strings.Lines(s.word(word))) {
		key, _, _ := strings.Cut(line, separator)
		if slices.Contains(keys, key) {
			s.lines = append(s.lines, line)
		}
	}
}
