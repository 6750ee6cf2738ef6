package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// office is two workers on a server, and their journal.
type office struct {
	srv     *zktest.Server
	entries chan heartbeat
	journal *httptest.Server
}

func newOffice(t *testing.T) *office {
	o := &office{srv: zktest.New(t), entries: make(chan heartbeat)}
	o.journal = httptest.NewServer(&journal{entries: o.entries})
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		o.journal.Close()
	})
	return o
}

// hire returns a worker that works until the end of the test, or until it is dismissed.
func (o *office) hire(t *testing.T, name string, session time.Duration) (w *worker, dismiss func() error) {
	client, err := framework.New(o.srv.Addr(), framework.WithDialer(o.srv.Dialer()), framework.WithSessionTimeout(session))
	require.NoError(t, err)
	w = newWorker(client, "/leader", name)
	w.journal, w.every = journalClient(o.journal.URL), time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		defer client.Close()
		ended <- w.run(ctx)
	}()
	dismiss = func() error {
		cancel()
		err := <-ended
		ended <- err
		return err
	}
	t.Cleanup(func() { require.NoError(t, dismiss()) })
	return w, dismiss
}

// nextTerm returns the first heartbeat of another leadership. One of the old may still have been on its way.
func (o *office) nextTerm(old heartbeat) heartbeat {
	h := <-o.entries
	for h.Token == old.Token {
		h = <-o.entries
	}
	return h
}

// asks asks a worker's health endpoint.
func asks(t *testing.T, w *worker, url string) (status int, body []byte) {
	t.Helper()
	answer := httptest.NewRecorder()
	w.health().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, url, nil))
	return answer.Code, answer.Body.Bytes()
}

// leaderOf asks again if there was no answer: a worker gives the server only a second.
func leaderOf(t *testing.T, w *worker) (l leadership) {
	t.Helper()
	status, body := asks(t, w, "/leader")
	for again := 10; again > 0 && status != http.StatusOK; again-- {
		status, body = asks(t, w, "/leader")
	}
	require.Equal(t, http.StatusOK, status, "%s", body)
	require.NoError(t, json.Unmarshal(body, &l))
	return l
}

// One works, everybody knows who, and the next one does when it stops.
func TestOneWorks(t *testing.T) {
	o := newOffice(t)
	berlin, dismiss := o.hire(t, "berlin", time.Minute)
	first := <-o.entries
	oslo, _ := o.hire(t, "oslo", time.Minute)
	require.NoError(t, o.srv.WaitChildren(t.Context(), "/leader", 2))
	require.Equal(t, heartbeat{"berlin", 1, first.Token}, first)
	require.Equal(t, heartbeat{"berlin", 2, first.Token}, <-o.entries)

	own := leaderOf(t, berlin)
	require.NotNil(t, own.Since)
	require.WithinDuration(t, time.Now(), *own.Since, time.Minute)
	require.Equal(t, leadership{"berlin", true, "berlin", first.Token, own.Since}, own)
	require.Equal(t, leadership{"oslo", false, "berlin", first.Token, nil}, leaderOf(t, oslo))

	require.NoError(t, dismiss())
	next := o.nextTerm(first)
	require.Equal(t, heartbeat{"oslo", 1, next.Token}, next)
	require.Greater(t, next.Token, first.Token)
	require.Equal(t, "oslo", leaderOf(t, oslo).Leader)
}

// A worker that cannot reach the servers says that it is not well, and does not lead when its session's time is up. It leads
// again by itself.
func TestWorkerOutlastsAnOutage(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	w, _ := o.hire(t, "berlin", 4*time.Second)
	first := <-o.entries
	status, body := asks(t, w, "/healthz")
	require.Equal(t, http.StatusOK, status, "%s", body)

	session, err := w.client.Session(t.Context())
	require.NoError(t, err)
	term := w.selector.Leadership().Context()
	o.srv.Stop()
	for last := first; session.Context().Err() == nil; { // until then it may work
		select {
		case last = <-o.entries:
			require.Equal(t, first.Token, last.Token)
		case <-session.Context().Done():
		}
	}
	select {
	case <-term.Done():
	case <-time.After(10 * time.Second): // it is a matter of nanoseconds, and of the scheduler
		require.Fail(t, "leads without a session")
	}
	status, _ = asks(t, w, "/healthz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	status, _ = asks(t, w, "/leader")
	require.Equal(t, http.StatusServiceUnavailable, status)

	o.srv.Start()
	again := o.nextTerm(first)
	require.Greater(t, again.Token, first.Token)
	require.Equal(t, 1, again.Number)
}
