package tracing_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes"
)

// Names of locks that are made of data lose themselves, but nothing else: how many hold and wait, and what was lost and
// why, is still seen.
func TestTooManyNamesAreMeasuredAsOne(t *testing.T) {
	alone(t, func(t *testing.T, s *story, v *service) {
		const names = 1200
		named := func(i int) *recipes.Lease {
			return s.must(recipes.NewInterProcessMutex(v.client, fmt.Sprint("/locks/", i), recipes.WithName(fmt.Sprint("lock ", i))).Acquire(context.Background()))
		}
		for i := range names {
			s.release(named(i), 0)
		}
		lost := named(names)
		s.srv.ExpireSession(v.client.SessionID())
		<-lost.Context().Done()
		require.Error(t, lost.Release(context.Background()))
		synctest.Wait()

		totals := v.totals(t)
		require.Zero(t, totals["curator.lock.waiters"])
		require.Zero(t, totals["curator.lock.holders"])
		require.Equal(t, names+1, totals["curator.lock.acquisitions"])
		require.Equal(t, 1, totals["curator.lock.losses"])
		var told strings.Builder
		s.metrics(&told, v)
		require.Contains(t, told.String(), "curator.lock.losses [{hold}] {curator.lock.end=session_lost, curator.lock.mode=exclusive, "+
			"curator.lock.name=_OTHER, curator.lock.recipe=mutex}: 1")
		require.Less(t, strings.Count(told.String(), "\n"), 2*names, "else it were five for each name")
	})
}
