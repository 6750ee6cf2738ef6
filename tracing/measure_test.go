package tracing_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/locks"
)

// If a program makes lock names from data, the metrics lose these names and
// nothing else: the counts of holders and waiters, and the losses with their
// causes, are still seen.
func TestTooManyNamesAreMeasuredAsOne(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		const names = 1200
		named := func(i int) *locks.Lease {
			path, name := fmt.Sprint("/locks/", i), fmt.Sprint("lock ", i)
			mutex := locks.NewInterProcessMutex(v.client, path, locks.WithName(name))
			return s.must(mutex.Acquire(context.Background()))
		}
		for i := range names {
			s.release(named(i), 0)
		}
		lost := named(names)
		s.srv.Session(v.client.SessionID()).Expire()
		<-lost.Context().Done()
		require.Error(t, lost.Release(context.Background()))
		synctest.Wait()

		totals := v.totals(t)
		require.Zero(t, totals["curator.lock.waiters"])
		require.Zero(t, totals["curator.lock.holders"])
		require.Equal(t, names+1, totals["curator.lock.acquisitions"])
		require.Equal(t, 1, totals["curator.lock.losses"])
		var rendered strings.Builder
		s.metrics(&rendered, v)
		require.Contains(t, rendered.String(),
			"curator.lock.losses [{hold}] {curator.lock.end=session_lost, curator.lock.mode=exclusive, "+
				"curator.lock.name=_OTHER, curator.lock.recipe=mutex}: 1")
		lines := strings.Count(rendered.String(), "\n")
		require.Less(t, lines, 2*names, "separate names would have five each")
	})
}
