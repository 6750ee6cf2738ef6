package tracing_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/recipes/discovery"
)

// instance registers an instance of the service mail.
func (s *story) instance(v *service, id string, opts ...discovery.RegistrationOption) *discovery.Registration {
	s.Helper()
	r, err := discovery.NewRegistration(v.client, "/services", discovery.CuratorCodec(), discovery.Instance{
		Service: "mail", ID: id, Address: "10.0.0.7", Port: 25,
	}, opts...)
	require.NoError(s, err)
	s.Cleanup(func() {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		r.Shutdown(over)
	})
	_, err = r.WaitRegistered(s.Context())
	require.NoError(s, err)
	return r
}

// directory returns a directory of mail with two instances, both of which its
// picker has found to fail.
func (s *story) directory(v *service) *discovery.Directory {
	s.Helper()
	s.instance(v, "a")
	s.instance(v, "b")
	d, err := discovery.NewDirectory(v.client, "/services", discovery.CuratorCodec(), "mail")
	require.NoError(s, err)
	s.Cleanup(func() { d.Close() })
	require.NoError(s, d.WaitInstances(s.Context(), 2))
	p, err := discovery.NewPicker(discovery.RoundRobin(), discovery.WithDirectory(d))
	require.NoError(s, err)
	p.Update(d.Snapshot().Entries)
	for range 20 {
		_, request, err := p.Pick()
		require.NoError(s, err)
		request.Done(errors.New("refused"))
	}
	return d
}

// drained registers an instance, and drains it when the directory has it.
func (s *story) drained(v *service, d *discovery.Directory) {
	s.Helper()
	r := s.instance(v, "c")
	require.NoError(s, d.WaitInstances(s.Context(), 3))
	require.NoError(s, r.Drain(s.Context()))
	time.Sleep(time.Second)
}

// discover records every metric of discovery.
func (s *story) discover(v *service) {
	s.Helper()
	s.drained(v, s.directory(v))
}

func TestInstanceThatDrains(t *testing.T) {
	runStory(t, func(s *story) {
		s.metric = "curator.discovery."
		v := s.service("worker")
		r := s.instance(v, "a")
		time.Sleep(time.Second)
		require.NoError(s, r.Drain(s.Context()))
		time.Sleep(time.Second)
		require.NoError(s, r.Resume(s.Context()))
		time.Sleep(time.Second)
		require.NoError(s, r.Shutdown(context.Background()))
	})
}

func TestDirectoriesAreMeasured(t *testing.T) {
	withService(t, func(t *testing.T, s *story, v *service) {
		require.Empty(t, s.metricsOf(v, "curator.discovery."))
		d := s.directory(v)
		require.NoError(t, s.srv.Create("/services/mail/bad", []byte("garbage")))
		s.drained(v, d)
		want := []string{
			"changes {curator.discovery.change=added}: 3",
			"changes {curator.discovery.change=malformed}: 1",
			"changes {curator.discovery.change=updated}: 1",
			"drains: 1",
			"ejections: 1",
			"instances {curator.discovery.state=draining}: 1",
			"instances {curator.discovery.state=up}: 2",
			"interrupted: 0",
			"malformed: 1",
		}
		require.Equal(t, want, s.metricsOf(v, "curator.discovery."))
		s.srv.RefuseConnections(true)
		s.srv.CutAll()
		time.Sleep(2 * time.Second)
		require.Contains(t, s.metricsOf(v, "curator.discovery."), "interrupted: 1")
		s.srv.RefuseConnections(false)
		time.Sleep(time.Minute)
		require.NoError(t, d.Close())
		require.Contains(t, s.metricsOf(v, "curator.discovery."), "instances {curator.discovery.state=up}: 0")
	})
}
