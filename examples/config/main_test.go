package main

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const want = `The service starts.
level=INFO msg="new settings" by=defaults old="4 workers, 0 % off" new="4 workers, 0 % off" zxid=2
Alice wants 8 workers.
level=INFO msg="new settings" by=alice old="4 workers, 0 % off" new="8 workers, 0 % off" zxid=3
A script writes no workers.
level=ERROR msg="bad settings, the last good ones stay" error="decode /settings: 0 workers, 0 % off by \"nightly.sh\": want 1 to 64 workers, and 0 to 50 % off" zxid=4
An editor saves half a file.
level=ERROR msg="bad settings, the last good ones stay" error="decode /settings: unexpected end of JSON input" zxid=5
Bob wants a discount of 500 %.
It is refused: try set /settings: 8 workers, 500 % off by "bob": want 1 to 64 workers, and 0 to 50 % off
Somebody deletes the node.
level=ERROR msg="settings were deleted, the last good ones stay"
Bob wants a discount of 20 %.
level=INFO msg="new settings" by=bob old="8 workers, 0 % off" new="8 workers, 20 % off" zxid=7
`

func TestStory(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, demo.AsExpected, demo.Run(t.Context(), "config", runStory, nil, &out, &errs), &errs)
	require.Equal(t, want, out.String())
	require.Empty(t, errs.String())
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	indented := "    " + strings.ReplaceAll(strings.TrimSpace(want), "\n", "\n    ")
	require.Contains(t, string(readme), indented)
}

// The program fails if the service does not have the settings that it should
// have: another writer is a step ahead of it.
func TestStoryThatGoesWrong(t *testing.T) {
	srv := zktest.Start(t, zktest.WithTCP("127.0.0.1:0"))
	srv.Inject(zktest.Rule{Op: zktest.OpSetData, Do: zktest.CallAfter(func(r zktest.Request) {
		_ = srv.Set(r.Path, []byte(`{"workers":1}`))
	})})
	var out, errs bytes.Buffer
	require.Equal(t, demo.Failed, demo.Run(t.Context(), "config", runStory, []string{"-servers", srv.Addr()}, &out, &errs))
	require.Contains(t, errs.String(), "the service uses 1 workers, 0 % off, and should use 8 workers, 0 % off")
}

// newService returns a service that follows the settings until the test ends,
// and what it uses.
func newService(t *testing.T, srv *zktest.Server) (*service, <-chan settings) {
	value, err := shared.NewValue(curatortest.Connect(t, srv), node, validated(), defaults)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, value.Close()) })
	s := &service{node: value, log: slog.New(slog.DiscardHandler)}
	s.current.Store(&defaults)
	used := make(chan settings, 100)
	go func() {
		defer close(used)
		if err := s.follow(t.Context(), func(now settings) { used <- now }); !errors.Is(err, shared.ErrClosed) && err != nil {
			t.Error(err)
		}
	}()
	return s, used
}

// Two processes change different settings at the same time. Neither change is
// lost, and both processes have both.
func TestTwoChangeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		a, _ := newService(t, srv)
		b, _ := newService(t, srv)
		synctest.Wait()
		changed := make(chan error)
		go func() {
			changed <- a.change(t.Context(), "alice", func(s *settings) { s.Workers = 16 })
		}()
		go func() {
			changed <- b.change(t.Context(), "bob", func(s *settings) { s.Discount = 5 })
		}()
		require.NoError(t, <-changed)
		require.NoError(t, <-changed)
		synctest.Wait()
		for _, s := range []*service{a, b} {
			require.Equal(t, "16 workers, 5 % off", s.current.Load().String())
		}
	})
}

// A service that starts while the settings are bad works with the defaults, and
// repairs the node by them.
func TestBadFromTheBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		require.NoError(t, srv.Create(node, []byte("workers: 16")))
		s, used := newService(t, srv)
		require.Equal(t, defaults, <-used)
		require.NoError(t, s.change(t.Context(), "alice", func(s *settings) { s.Workers = 16 }))
		require.Equal(t, settings{16, 0, "alice"}, <-used)
	})
}

func TestValidate(t *testing.T) {
	require.NoError(t, defaults.validate())
	for _, s := range []settings{{}, {Workers: -1}, {Workers: 65}, {Workers: 1, Discount: -1}, {Workers: 1, Discount: 51}} {
		require.ErrorIs(t, s.validate(), errInvalid, "%v", s)
		_, err := validated().Encode(s)
		require.ErrorIs(t, err, errInvalid, "%v", s)
	}
	_, err := validated().Decode([]byte("null"))
	require.ErrorIs(t, err, errInvalid)
}
