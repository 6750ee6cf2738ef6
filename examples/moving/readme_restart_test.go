package moving

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// removeDead deletes the contenders of this service whose processes, on this machine, do
// not exist any more: none of them can believe that it holds the lock.
func removeDead(ctx context.Context, client *framework.Client, mutex *locks.InterProcessMutex, service string) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	contenders, err := mutex.Participants(ctx)
	for _, c := range contenders {
		id := c.Identity()
		isOurs := id.Service == service && id.Host == host && id.PID > 0
		if !isOurs || !id.KeptUntil.IsZero() || !isDead(id.PID) {
			continue
		}
		if err := client.Delete(ctx, c.Path, framework.AnyVersion, framework.WithMissingOK()); err != nil {
			return err
		}
	}
	return err
}

func isDead(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

func TestRemoveDead(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	const noProcess = 1 << 30 // more than Linux has
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		before, client := curatortest.Connect(t, srv), curatortest.Connect(t, srv)
		ctx := t.Context()
		hold := func(service, host string, pid int) *locks.Lease {
			data := fmt.Appendf(nil, `{"v":1,"host":%q,"pid":%d,"service":%q}`, host, pid, service)
			lease, err := locks.NewInterProcessMutex(before, "/lock", locks.WithNodeData(data)).TryAcquire(ctx)
			require.NoError(t, err)
			return lease
		}
		for _, tc := range []struct {
			service, host string
			pid           int
			removed       bool
		}{
			{"billing", host, noProcess, true},
			{"billing", host, os.Getpid(), false},
			{"billing", "another-host", noProcess, false},
			{"another", host, noProcess, false},
		} {
			lease := hold(tc.service, tc.host, tc.pid)
			mutex := locks.NewInterProcessMutex(client, "/lock")
			require.NoError(t, removeDead(ctx, client, mutex, "billing"))
			again, err := mutex.TryAcquire(ctx)
			require.Equal(t, tc.removed, err == nil, "%+v: %v", tc, err)
			if err == nil {
				require.NoError(t, again.Release(ctx))
			}
			_ = lease.Release(ctx)
			time.Sleep(time.Minute)
		}
	})
}
