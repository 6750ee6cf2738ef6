package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// town is where the instances of a test are. Calls do not leave the process.
type town struct {
	srv *zktest.Server

	mu       sync.Mutex
	handlers map[string]http.Handler // by address; those that do not answer are nil
}

var errRefused = errors.New("connection refused")

// RoundTrip implements http.RoundTripper.
func (w *town) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	h := w.handlers[r.Host]
	w.mu.Unlock()
	if h == nil {
		return nil, errRefused
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer.Result(), nil
}

func (w *town) listen(address string, h http.Handler) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handlers[address] = h
}

// settle starts an instance on a host, which runs until the test ends.
func (w *town) settle(t *testing.T, host *zktest.Host, name, ip string) *service {
	return w.settleUntil(t.Context(), t, host, name, ip)
}

// settleUntil starts an instance that runs until ctx ends.
func (w *town) settleUntil(ctx context.Context, t *testing.T, host *zktest.Host, name, ip string) *service {
	client := curatortest.Connect(t, w.srv, framework.WithDialer(host.Dialer()), framework.WithSessionTimeout(10*time.Second))
	s := newService(client, w)
	require.NoError(t, s.open(name, net.TCPAddr{IP: net.ParseIP(ip), Port: 80}))
	w.listen(ip+":80", s.handler(nil))
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- s.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(name, err)
		}
		s.all.Close()
	})
	return s
}

// reportOf returns what an instance sees, once it has read a transaction.
func reportOf(t *testing.T, s *service, zxid int64) report {
	require.NoError(t, s.all.WaitFor(t.Context(), zxid))
	return reportNow(s)
}

func reportNow(s *service) report {
	answer := make(chan report, 1)
	s.asks <- answer
	return <-answer
}

// An instance that drains gets no calls, as soon as the others have read that.
// One that is killed, while another is cut off from ZooKeeper, costs no call
// either. The other instances keep calling the instance that is cut off.
func TestNoCallFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{srv: zktest.Start(t), handlers: map[string]http.Handler{}}
		hosts := []*zktest.Host{w.srv.NewHost(), w.srv.NewHost(), w.srv.NewHost()}
		osl, par, rom := w.settle(t, hosts[0], oslo, "10.0.0.1"), w.settle(t, hosts[1], paris, "10.0.0.2"), w.settle(t, hosts[2], rome, "10.0.0.3")
		time.Sleep(time.Second)
		before := reportNow(rom)
		require.Equal(t, []string{oslo, paris}, before.Sees)
		require.NotZero(t, before.Served)

		require.NoError(t, rom.self.Drain(t.Context()))
		for _, s := range []*service{osl, par} {
			require.Contains(t, strings.Join(reportOf(t, s, rom.client.LastZxid()).Sees, " "), "rome (drains)")
		}
		served := rom.served.Load()
		time.Sleep(time.Second)
		require.Equal(t, served, reportNow(rom).Served)
		require.Greater(t, reportNow(rom).Calls, before.Calls+50)
		require.NoError(t, rom.self.Resume(t.Context()))
		time.Sleep(time.Second)
		require.Greater(t, reportNow(rom).Served, served+50)

		hosts[0].Disconnect()
		w.listen("10.0.0.2:80", nil)
		served = osl.served.Load()
		time.Sleep(time.Second)
		require.True(t, reportNow(osl).Interrupted)
		hosts[0].Heal()
		time.Sleep(time.Second)
		for _, s := range []*service{osl, rom} {
			r := reportNow(s)
			require.NotZero(t, r.Retried)
			require.Zero(t, r.Failed)
		}
		require.Greater(t, osl.served.Load(), served+100)
	})
}

// An instance that drains before it leaves costs its callers no attempt.
func TestInstanceThatLeavesCostsNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{srv: zktest.Start(t), handlers: map[string]http.Handler{}}
		osl, rom := w.settle(t, w.srv.NewHost(), oslo, "10.0.0.1"), w.settle(t, w.srv.NewHost(), rome, "10.0.0.3")
		ctx, stop := context.WithCancel(t.Context())
		par := w.settleUntil(ctx, t, w.srv.NewHost(), paris, "10.0.0.2")
		time.Sleep(time.Second)
		require.NotZero(t, reportNow(par).Served)
		stop()
		par.leave(t.Context())
		w.listen("10.0.0.2:80", nil)
		time.Sleep(3 * time.Second)
		for s, other := range map[*service]string{osl: rome, rom: oslo} {
			r := reportNow(s)
			require.Equal(t, []string{other}, r.Sees)
			require.Zero(t, r.Retried)
			require.Zero(t, r.Failed)
		}
	})
}
