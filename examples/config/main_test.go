package main

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

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
