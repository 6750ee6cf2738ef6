package snapshot_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/debug/snapshot"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func register(t *testing.T, c *framework.Client, id string, opts ...discovery.RegistrationOption) *discovery.Registration {
	t.Helper()
	r, err := discovery.NewRegistration(c, "/services", discovery.CuratorCodec(), discovery.Instance{
		Service: "mail", ID: id, Address: "10.0.0.7", Port: 25,
	}, opts...)
	require.NoError(t, err)
	t.Cleanup(func() {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		r.Shutdown(over)
	})
	return r
}

func instances(c snapshot.Client) (all []string) {
	for _, i := range c.Instances.Items {
		text := i.ID + " " + i.State
		if i.Trouble != "" {
			text += ": " + i.Trouble
		}
		all = append(all, text)
	}
	return all
}

// Each instance of a service says what it does, and why.
func TestInstancesSayWhatTheyDo(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, c *framework.Client) {
		other := curatortest.Connect(t, srv)
		register(t, other, "b")
		synctest.Wait()
		register(t, c, "a")
		register(t, c, "b")
		require.NoError(t, register(t, c, "c").Drain(t.Context()))
		time.Sleep(time.Minute)
		s := one(t, c)
		require.Equal(t, 3, s.Instances.Total)
		all := instances(s)
		require.Equal(t, "a registered", all[0])
		require.Contains(t, all[1], "b conflict: somebody else's node is in the way: /services/mail/b")
		require.Equal(t, "c draining", all[2])
		first := s.Instances.Items[0]
		require.Equal(t, "/services/mail/a", first.Node)
		require.Equal(t, "10.0.0.7:25", fmt.Sprint(first.Address, ":", first.Port))
		require.Equal(t, time.Minute, time.Since(first.Since).Round(time.Second))
		require.Equal(t, 3, s.Registrations.Total, "their nodes are registrations, too")

		host.Isolate()
		host.Disconnect()
		time.Sleep(time.Minute)
		require.Contains(t, instances(one(t, c))[0], "a missing: ")
		host.Heal()
		require.NoError(t, c.WaitConnected(t.Context()))
		synctest.Wait()
		require.Equal(t, "a registered", instances(one(t, c))[0])
	})
}

// A directory says what it has, and what is wrong.
func TestDirectoriesSayWhatTheyHave(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server, host *zktest.Host, c *framework.Client) {
		other := curatortest.Connect(t, srv)
		first, second := register(t, other, "a"), register(t, other, "b")
		require.NoError(t, second.Drain(t.Context()))
		require.NoError(t, srv.Create("/services/mail/bad", []byte("garbage")))
		d, err := discovery.NewServices(c, "/services", discovery.CuratorCodec(), discovery.WithRemovalGrace(time.Minute))
		require.NoError(t, err)
		require.NoError(t, d.WaitInstances(t.Context(), 1))
		now := one(t, c).Directories.Items[0]
		require.Equal(t, "/services", now.Root)
		require.Positive(t, now.Zxid)
		require.True(t, now.Filled)
		require.False(t, now.Interrupted)
		require.Equal(t, []snapshot.Service{{Name: "mail", Instances: 2, Drained: 1}}, now.Services.Items)
		require.Equal(t, []snapshot.Bad{{Path: "/services/mail/bad", Problem: "no JSON object: garbage"}}, now.Malformed.Items)

		require.NoError(t, first.Shutdown(t.Context()))
		time.Sleep(2 * time.Second)
		now = one(t, c).Directories.Items[0]
		require.Equal(t, 2, now.Instances)
		require.Contains(t, asText(t, c), "up to date, 2 instances, 1 service, 1 malformed")
		host.Isolate()
		host.Disconnect()
		time.Sleep(time.Second)
		require.True(t, one(t, c).Directories.Items[0].Interrupted)
		host.Heal()
		require.NoError(t, c.WaitConnected(t.Context()))
		require.NoError(t, d.Close())
		require.Zero(t, one(t, c).Directories.Total)
	})
}
