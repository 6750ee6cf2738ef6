package main

import (
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		require.NoError(t, run(t.Context(), zktest.Start(t), &out))
		readme, err := os.ReadFile("../README.md")
		require.NoError(t, err)
		indented := "    " + strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", "\n    ")
		require.True(t, strings.Contains(string(readme), indented), "README does not show this:\n%s", indented)
	})
}

// Two processes change different settings at the same time. Neither change is lost.
func TestTwoChangeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		require.NoError(t, srv.Create(node, []byte("workers: 16"))) // bad settings, which the first change repairs
		changed := make(chan error)
		for by, edit := range map[string]func(*settings){
			"alice": func(s *settings) { s.Workers = 16 },
			"bob":   func(s *settings) { s.Discount = 5 },
		} {
			s, err := newService(curatortest.Connect(t, srv), slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			defer s.node.Close()
			go func() { changed <- s.change(t.Context(), by, edit) }()
		}
		require.NoError(t, <-changed)
		require.NoError(t, <-changed)
		now, _ := srv.Node(node)
		s, err := validated().Decode(now.Data)
		require.NoError(t, err)
		require.Equal(t, "16 workers, 5 % off", s.String())
	})
}
