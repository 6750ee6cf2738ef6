//go:build real

package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/debug/curatorz"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// testbed has a server and a journal for some workers.
type testbed struct {
	srv     *zktest.Server
	entries chan heartbeat
	journal *httptest.Server
}

func newTestbed(t *testing.T) *testbed {
	b := &testbed{srv: zktest.Start(t), entries: make(chan heartbeat)}
	b.journal = httptest.NewServer(&journal{entries: b.entries})
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		b.journal.Close()
	})
	return b
}

// startWorker returns a worker that works until the end of the test, or until
// stop is called.
func (b *testbed) startWorker(
	t *testing.T, name string, session time.Duration,
) (w *worker, stop func() error) {
	page := curatorz.New()
	client, err := framework.New(b.srv.Addr(),
		framework.WithDialer(b.srv.Dialer()), framework.WithSessionTimeout(session), framework.WithHooks(page))
	require.NoError(t, err)
	w = newWorker(client, "/leader", name)
	w.journal, w.every, w.page = journalClient(b.journal.URL), time.Millisecond, page
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		defer client.Close()
		ended <- w.run(ctx)
	}()
	stop = func() error {
		cancel()
		err := <-ended
		ended <- err
		return err
	}
	t.Cleanup(func() { require.NoError(t, stop()) })
	return w, stop
}

// nextTerm returns the first heartbeat of another leadership. A heartbeat of
// the old one may still arrive before it.
func (b *testbed) nextTerm(old heartbeat) heartbeat {
	h := <-b.entries
	for h.Token == old.Token {
		h = <-b.entries
	}
	return h
}

// get sends a request to a worker's HTTP endpoint.
func get(t *testing.T, w *worker, url string) (status int, body []byte) {
	t.Helper()
	answer := httptest.NewRecorder()
	w.health().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, url, nil))
	return answer.Code, answer.Body.Bytes()
}

// leaderOf retries if there was no answer, since a worker gives the server only
// a second.
func leaderOf(t *testing.T, w *worker) (l leadership) {
	t.Helper()
	status, body := get(t, w, "/leader")
	for again := 10; again > 0 && status != http.StatusOK; again-- {
		status, body = get(t, w, "/leader")
	}
	require.Equal(t, http.StatusOK, status, "%s", body)
	require.NoError(t, json.Unmarshal(body, &l))
	return l
}

// One worker works, every worker knows which one, and another one works when it
// stops.
func TestOneWorks(t *testing.T) {
	b := newTestbed(t)
	berlin, dismiss := b.startWorker(t, "berlin", time.Minute)
	first := <-b.entries
	oslo, _ := b.startWorker(t, "oslo", time.Minute)
	require.NoError(t, b.srv.WaitChildren(t.Context(), "/leader", 2))
	require.Equal(t, heartbeat{"berlin", 1, first.Token}, first)
	require.Equal(t, heartbeat{"berlin", 2, first.Token}, <-b.entries)

	own := leaderOf(t, berlin)
	require.NotNil(t, own.Since)
	require.WithinDuration(t, time.Now(), *own.Since, time.Minute)
	require.Equal(t, leadership{"berlin", true, "berlin", first.Token, own.Since}, own)
	require.Equal(t, leadership{"oslo", false, "berlin", first.Token, nil}, leaderOf(t, oslo))

	require.NoError(t, dismiss())
	next := b.nextTerm(first)
	require.Equal(t, heartbeat{"oslo", 1, next.Token}, next)
	require.Greater(t, next.Token, first.Token)
	require.Equal(t, "oslo", leaderOf(t, oslo).Leader)
}

// A worker that cannot reach the servers reports that it is not healthy, and
// stops leading when its session's time is over. It leads again by itself.
func TestWorkerSurvivesAnOutage(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	w, _ := b.startWorker(t, "berlin", session)
	first := <-b.entries
	status, body := get(t, w, "/healthz")
	require.Equal(t, http.StatusOK, status, "%s", body)

	session, err := w.client.Session(t.Context())
	require.NoError(t, err)
	term := w.selector.Leadership().Context()
	b.srv.Stop()
	// It may work until then.
	for last := first; session.Context().Err() == nil; {
		select {
		case last = <-b.entries:
			require.Equal(t, first.Token, last.Token)
		case <-session.Context().Done():
		}
	}
	select {
	case <-term.Done():
	case <-time.After(10 * time.Second):
		// It takes nanoseconds, plus the scheduler's time.
		require.Fail(t, "leads without a session")
	}
	status, _ = get(t, w, "/healthz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	status, _ = get(t, w, "/leader")
	require.Equal(t, http.StatusServiceUnavailable, status)
	status, body = get(t, w, "/debug/curatorz")
	require.Equal(t, http.StatusOK, status, "it needs no server")
	require.Contains(t, string(body), "lost for")

	b.srv.Restart()
	again := b.nextTerm(first)
	require.Greater(t, again.Token, first.Token)
	require.Equal(t, 1, again.Number)
}
