package curatortest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

func TestWorkStopsWhenTheSessionIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		host := srv.NewHost() // the machine that the client runs on
		client := curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))
		mutex := locks.NewInterProcessMutex(client, "/locks/a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of virtual time
		defer cancel()

		err := mutex.Do(ctx, func(ctx context.Context) error {
			host.LoseSessions() // cuts the machine off until the session has expired
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if !errors.Is(err, framework.ErrSessionLost) {
			t.Fatal(err)
		}
	})
}

func TestLockOfACrashedHolderIsFreeAfterTheSessionTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		host := srv.NewHost()
		holder := curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))
		waiter := curatortest.Connect(t, srv)
		if _, err := locks.NewInterProcessMutex(holder, "/locks/a").Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}

		host.Disconnect() // closes the sockets for good, as the end of a process does
		crash := time.Now()
		if _, err := locks.NewInterProcessMutex(waiter, "/locks/a").Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(crash); waited != 15*time.Second {
			t.Fatal(waited)
		}
	})
}

func TestLeaseSurvivesAShortNetworkCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		host := srv.NewHost()
		client := curatortest.Connect(t, srv, framework.WithDialer(host.Dialer()))
		lease, err := locks.NewInterProcessMutex(client, "/locks/a").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}

		host.Isolate() // packets vanish, connections stay open
		time.Sleep(8 * time.Second)
		host.Heal()
		if err := client.WaitConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := context.Cause(lease.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAcquireGivesUpOnASlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		client := curatortest.Connect(t, srv)
		srv.Inject(zktest.Rule{
			Op: zktest.OpCreate, Path: "/locks/a/*", Times: -1, Do: zktest.DelayReply(3 * time.Second),
		})

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := locks.NewInterProcessMutex(client, "/locks/a").Acquire(ctx)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if err := srv.WaitChildren(t.Context(), "/locks/a", 0); err != nil {
			t.Fatal(err) // the client deletes the late node in the background
		}
	})
}

func TestTwoClientsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		inside, rounds := 0, 0
		for range 2 {
			mutex := locks.NewInterProcessMutex(curatortest.Connect(t, srv), "/locks/a")
			go func() {
				for range 10 {
					err := mutex.Do(t.Context(), func(context.Context) error {
						inside++
						if inside != 1 {
							t.Error("two holders")
						}
						time.Sleep(time.Second) // the work
						inside--
						rounds++
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			}()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if rounds != 20 {
			t.Error(rounds, "rounds")
		}
	})
}
