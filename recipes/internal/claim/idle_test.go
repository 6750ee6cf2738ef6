package claim

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
)

// Nobody has told the claim of the end yet, or works under it.
func TestIdleClaimIsTrustedUntilSomethingHappens(t *testing.T) {
	for name, happens := range map[string]func(c *Claim){
		"end":     func(c *Claim) { c.end(framework.ErrSuspended) },
		"request": func(c *Claim) { c.noteRequest() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := heldClaim(t)
				require.True(t, c.IsTrusted())
				happens(c)
				require.False(t, c.IsTrusted())
				require.Equal(t, Held, c.State())
			})
		})
	}
}

func TestRetiredClaimLeavesNothing(t *testing.T) {
	for name, before := range map[string]func(c *Claim){
		"held":          func(*Claim) {},
		"is being lost": func(c *Claim) { c.end(framework.ErrSuspended) },
		"lost":          func(c *Claim) { c.Lose(framework.ErrSuspended) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, srv := heldClaim(t)
				var place countingPlace
				c.Occupy(&place)
				before(c)
				c.Retire()
				require.Equal(t, Released, c.State())
				require.Error(t, c.Context().Err())
				require.Positive(t, place.freed.Load())
				synctest.Wait()
				_, there := srv.Node("/n")
				require.False(t, there)
			})
		})
	}
}

// The clock that tells of suspensions is the user's code. A hand-over asks it.
func TestNoMutexIsHeldWhileTheSuspendClockIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Pointer[watcher]
		locked := false
		c, _ := heldClaim(t, framework.WithSuspendClock(func() time.Duration {
			if w := asked.Load(); w != nil {
				if asked.Store(nil); w.mu.TryLock() {
					w.mu.Unlock()
				} else {
					locked = true
				}
			}
			return 0
		}))
		synctest.Wait() // nobody else asks now
		asked.Store(c.watcher)
		c.Successor()
		require.Nil(t, asked.Load())
		require.False(t, locked)
	})
}

// A claim is lost, or asked for, when its holder has just released it. The nodes may
// stay if only the connection was interrupted: nobody works under them.
func TestNodesThatMayStayWithoutAHolder(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(c *Claim)
		stay    bool
	}{
		"nothing":      {func(*Claim) {}, true},
		"interruption": {func(c *Claim) { c.Lose(framework.ErrSuspended) }, true},
		"deletion":     {func(c *Claim) { c.NodeDeleted() }, false},
		"request":      {func(c *Claim) { c.Request() }, false},
		"session lost": {func(c *Claim) { c.Lose(framework.ErrSessionLost) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				held, _ := heldClaim(t)
				lease := held.First(t.Context())
				require.True(t, lease.part().last)
				c.happens(held)
				require.Equal(t, Releasing, held.State())
				next := held.Unattended()
				require.Equal(t, c.stay, next != nil)
				if c.stay {
					require.True(t, next.HasNodes())
					next.Retire()
				}
				held.GiveUp(t.Context())
			})
		})
	}
}
