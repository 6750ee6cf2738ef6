package leader_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// troubles are the errors of a server that has trouble itself. They go away
// with time.
var troubles = []zktest.Code{
	zkinside.ErrSystem, -7 /* operation timeout */, -122 /* request timeout */, zkinside.ErrThrottled, zkinside.ErrSessionMoved,
	zktest.ErrConnectionLoss, zkinside.ErrSessionExpired,
}

// A candidacy goes on in the background, where it has no caller to return an error to.
// So a candidacy survives server errors at each of its requests. An acquire may return
// them.
//
// Promise: Outages and server errors do not end a candidacy.
func TestCandidacySurvivesServerErrors(t *testing.T) {
	for _, code := range troubles {
		t.Run(code.Error(), func(t *testing.T) {
			recipetest.EachRequest(t, 3, func(t *testing.T, i int) (hit bool) {
				inVirtualTime(t, func(t *testing.T, w *world) { hit = w.candidacyDuringErrors(t, code, i) })
				return hit
			})
		})
	}
}

// candidacyDuringErrors waits for the leadership behind another latch, resigns, and
// leads again. From the i-th request on, the server fails twenty. It reports whether
// there was an i-th request.
func (w *world) candidacyDuringErrors(t *testing.T, code zktest.Code, i int) (hit bool) {
	first, _ := w.startLatches(t, "/l", 1)
	c, _ := w.Connect(t)
	rule := w.Fake.Inject(zktest.Rule{Optional: true, Session: c.SessionID(), After: i, Times: 20, Do: zktest.Fail(code)})
	l := latch(t, c, "/l")
	time.Sleep(time.Minute)
	require.NoError(t, first[0].Shutdown(t.Context()))
	lease := w.await(t, l)
	time.Sleep(time.Minute)
	lease.Release(t.Context()) // the leadership may have been lost meanwhile
	w.await(t, l)
	time.Sleep(time.Minute)
	require.NotNil(t, l.Leadership())
	require.Len(t, w.Fake.Children("/l"), 1)
	hit = rule.Hits() > 0
	rule.Remove()
	w.closeAll(t, "/l", l)
	return hit
}
