package tracing_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/recipes/barriers"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

// changeAtomics stores a number, and adds to it twice: another client is faster
// once, and a reply is lost.
func (s *story) changeAtomics(v *service) {
	s.Helper()
	ctx := s.Context()
	n := atomic.NewLong(v.client, "/n")
	require.NoError(s, n.Store(ctx, 5))
	s.srv.Inject(zktest.Rule{Op: zktest.OpSetData, Path: "/n", Do: zktest.Call(func(zktest.Request) {
		_ = s.srv.Set("/n", []byte{0, 0, 0, 0, 0, 0, 0, 7})
	})})
	sum, err := n.Add(ctx, 1)
	require.NoError(s, err)
	require.EqualValues(s, 8, sum)
	s.srv.Inject(zktest.Rule{Op: zktest.OpSetData, Path: "/n", Do: zktest.DropReply()})
	_, err = n.Add(ctx, 1)
	require.ErrorIs(s, err, framework.ErrOutcomeUnknown)
}

func TestWritesOfAtomicValuesAreCounted(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		require.Empty(t, s.metricsOf(v, "curator.atomic."))
		s.changeAtomics(v)
		require.Equal(t, []string{
			"writes {curator.atomic.outcome=applied}: 2",
			"writes {curator.atomic.outcome=conflict}: 1",
			"writes {curator.atomic.outcome=unknown}: 1",
		}, s.metricsOf(v, "curator.atomic."))
	})
}

// changeShared changes a count three times, one of which is no number, and cuts
// the connection.
func (s *story) changeShared(v *service) {
	s.Helper()
	count, err := shared.NewCount(v.client, "/count", 7)
	require.NoError(s, err)
	s.Cleanup(func() { count.Close() })
	require.NoError(s, count.WaitSynced(s.Context()))
	require.NoError(s, count.Set(s.Context(), 8))
	require.NoError(s, s.srv.Set("/count", []byte("nine")[:3]))
	synctest.Wait()
	for range 2 {
		_, err = count.Get()
		require.Error(s, err)
	}
	require.NoError(s, s.srv.Delete("/count"))
	synctest.Wait()
	s.srv.CutAll()
	time.Sleep(2 * time.Second)
}

func TestSharedValuesAreCounted(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		require.Empty(t, s.metricsOf(v, "curator.shared."))
		s.changeShared(v)
		require.Equal(t, []string{"changes: 3", "rereads: 1", "undecodable: 1"}, s.metricsOf(v, "curator.shared."))
	})
}

// meetAtBarriers waits a second at a barrier that stays up, and enters and
// leaves a double barrier, whose other member is lost.
func (s *story) meetAtBarriers(v *service) {
	s.Helper()
	gate := barriers.NewBarrier(v.client, "/gate")
	_, err := gate.Raise(s.Context())
	require.NoError(s, err)
	impatient, cancel := context.WithTimeout(s.Context(), time.Second)
	defer cancel()
	require.ErrorIs(s, gate.Wait(impatient), barriers.ErrRaised)

	other, err := framework.New(s.srv.Addr(), framework.WithDialer(s.srv.Dialer()))
	require.NoError(s, err)
	go func() {
		time.Sleep(2 * time.Second)
		_, _ = barriers.NewDoubleBarrier(other, "/meeting", 2).Enter(s.Context())
		time.Sleep(time.Second)
		_ = other.Close()
	}()
	p, err := barriers.NewDoubleBarrier(v.client, "/meeting", 2).Enter(s.Context())
	require.NoError(s, err)
	time.Sleep(2 * time.Second)
	require.NoError(s, p.Leave(s.Context()))
	require.NoError(s, p.Leave(s.Context()), "it has left before")
}

func TestWaitsAtBarriersAreMeasured(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		require.Empty(t, s.metricsOf(v, "curator.barrier."))
		s.meetAtBarriers(v)
		require.Equal(t, []string{
			"wait.duration {curator.barrier.wait=enter}: 1 in all 2s",
			"wait.duration {curator.barrier.wait=leave}: 1 in all 0s",
			"wait.duration {curator.barrier.wait=wait, error.type=timeout}: 1 in all 1s",
		}, s.metricsOf(v, "curator.barrier."))
	})
}
