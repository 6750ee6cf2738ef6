//go:build real

package zktest

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/zktest/internal/wire"
)

func TestFourLetterWordsConform(t *testing.T) {
	conform(t, "words", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/p", none)
		a.create("/p/1", wire.FlagEphemeral)
		a.create("/p/2", wire.FlagEphemeral)
		b.create("/p/3", wire.FlagEphemeral)
		for _, c := range []*player{a, b} {
			c.get("/p", true)
			c.children("/p", true)
			c.exists("/missing", true)
		}
		s.lines = append(s.lines, s.word("ruok"), s.word("isro"))
		s.values("srvr", ": ", "Mode", "Node count")
		s.values("mntr", "\t", "zk_server_state", "zk_znode_count", "zk_watch_count",
			"zk_num_alive_connections", "zk_global_sessions")
		s.comesTo("mntr", "zk_outstanding_requests\t0\n")
		s.lines = append(s.lines, s.word("\xff\xf4\xff\xfd")) // as telnet says goodbye
	})
	conform(t, "formats", func(s *stage) {
		a, b := s.client(), s.client()
		a.create("/p", none)
		a.create("/p/1", wire.FlagEphemeral)
		b.get("/p", true)
		b.children("/p", true)
		b.do(wire.OpAddWatch, "/p/q", 1)
		for _, word := range []string{"srvr"} {
			var shapes []string
			for line := range strings.Lines(s.word(word)) {
				shapes = append(shapes, word+" "+s.shape(line))
			}
			slices.Sort(shapes)
			s.lines = append(s.lines, slices.Compact(shapes)...)
		}
	})
}

// Clients read the version from the words, and act by it.
func TestVersionConforms(t *testing.T) {
	conformInEachVersion(t, "version", func(s *stage) {
		for _, word := range []string{"srvr", "mntr", "envi"} {
			for line := range strings.Lines(s.word(word)) {
				if aRelease.MatchString(line) {
					s.lines = append(s.lines, word+": "+aRelease.ReplaceAllString(line, "$1"))
				}
			}
		}
		require.Len(s.t, s.lines, 3)
	})
}

var (
	aRelease = regexp.MustCompile(`(version\W[^\n]*\d+\.\d+)\.\d+-.*, built on .*\n`)
	aVersion = regexp.MustCompile(`version: .*\n`)
	aDate    = regexp.MustCompile(`expire at .*\n`)
	aNumber  = regexp.MustCompile(`-?(0x[0-9a-f]+|[0-9]+(\.[0-9]+)?)`)
)

// shape leaves out of a line what differs from run to run.
func (s *stage) shape(line string) string {
	for _, p := range s.players {
		line = strings.ReplaceAll(line, fmt.Sprintf("0x%x", p.session), "session "+p.name)
	}
	line = aVersion.ReplaceAllString(line, "version: v\n")
	line = aDate.ReplaceAllString(line, "expire at date\n")
	return aNumber.ReplaceAllString(line, "#")
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

// comesTo asks until the answer has a line. ZooKeeper counts a request as begun
// after it has handed it on: if the answer is quicker, -1 are outstanding then.
func (s *stage) comesTo(word, line string) {
	const times = 1000
	for range times {
		if strings.Contains(s.word(word), line) {
			s.lines = append(s.lines, line)
			return
		}
	}
	require.Failf(s.t, "not so", "no answer to %s of %d has %q", word, times, line)
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
