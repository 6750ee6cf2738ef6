package main

import (
	"bytes"
	"context"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// process is a process of the service, on its own machine.
type process struct {
	*service
	host *zktest.Host
	stop func()
}

func start(t *testing.T, srv *zktest.Server, url string) process {
	ctx, cancel := context.WithCancel(t.Context())
	host := srv.NewHost()
	s := newService(curatortest.Connect(t, srv, framework.WithDialer(host.Dialer())), url)
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err = s.run(ctx)
	}()
	stop := func() {
		cancel()
		<-ended
		require.NoError(t, err)
	}
	t.Cleanup(stop)
	synctest.Wait() // until it leads or is queued
	return process{s, host, stop}
}

func (p process) get(path string) (status int, body string) {
	w := httptest.NewRecorder()
	p.routes().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

func (p process) requireStatus(t *testing.T, path string, want int) {
	t.Helper()
	status, body := p.get(path)
	require.Equal(t, want, status, body)
}

// One process works. Another process takes over when the leader is asked to stop, and when
// the leader is cut off.
func TestOneProcessLeads(t *testing.T) {
	var logged bytes.Buffer
	log.SetOutput(&logged)
	log.SetFlags(0)
	synctest.Test(t, func(t *testing.T) {
		begin, srv := time.Now(), zktest.Start(t)
		berlin, rome := start(t, srv, "berlin"), start(t, srv, "rome")
		for _, p := range []process{berlin, rome} {
			p.requireStatus(t, "/ready", http.StatusOK)
			_, body := p.get("/leader")
			require.Regexp(t, `^{"leader":"berlin","token":\d+}\n$`, body)
		}

		berlin.stop()
		synctest.Wait()
		_, body := rome.get("/leader")
		require.Contains(t, body, `"rome"`)
		require.Equal(t, begin, time.Now(), "the hand-over takes no time")

		oslo := start(t, srv, "oslo")
		rome.host.Isolate()
		time.Sleep(20 * time.Second) // the session timeout is 15 s
		_, body = oslo.get("/leader")
		require.Contains(t, body, `"oslo"`)
		rome.requireStatus(t, "/ready", http.StatusServiceUnavailable)
		rome.requireStatus(t, "/leader", http.StatusServiceUnavailable)

		rome.host.Heal()
		require.NoError(t, rome.client.WaitConnected(t.Context()))
		rome.requireStatus(t, "/ready", http.StatusOK)
		require.NoError(t, srv.WaitChildren(t.Context(), "/leaders/billing", 2))
		rome.stop()
		oslo.stop()
	})
	require.Regexp(t, `^berlin leads with fencing token \d+
berlin stops: context canceled
rome leads with fencing token \d+
(rome works
)+rome stops: session lost: no answer within its time
oslo leads with fencing token \d+
(oslo works
)+oslo stops: context canceled
$`, logged.String())
}
