// Package explore plays a small scenario of clients in every possible order of events,
// and with every fault at every point, up to a number of deviations from the natural
// course. So a search finds cases that the author of a test would have to imagine.
//
//	func TestNobodyIsBesideTheHolder(t *testing.T) {
//		explore.Search(t, scenario, explore.Limits{Deviations: 2})
//	}
//
//	func scenario(w *explore.World) {
//		inside := w.Section("lock", 1)
//		for _, name := range []string{"A", "B"} {
//			w.Actor(name, func(a *explore.Actor) {
//				lock := locks.NewInterProcessMutex(a.Client(), "/lock")
//				var lease *locks.Lease
//				err := a.Call("acquire", func(ctx context.Context) (err error) {
//					lease, err = lock.Acquire(ctx)
//					return err
//				})
//				if err != nil {
//					return // the search has ended ctx, or the session is lost
//				}
//				leave := inside.Enter(a, lease.Context(), lease.FencingToken())
//				a.Pause("works")
//				leave()
//				_ = a.Call("release", lease.Release)
//			})
//		}
//	}
//
// # How it works
//
// A run of the scenario is a bubble of package testing/synctest with a server of
// package zktest. Whenever all goroutines wait, the search makes one move. The natural
// move is always possible and costs nothing: the oldest message arrives or, without a
// message, time passes until something happens. Every other move is a deviation:
//
//   - a message arrives later: after all others under way, or when nothing else is
//     under way, or after a second
//   - a request is lost, or its answer, with the connection; a connection becomes
//     a black hole
//   - a request is carried out late, or its answer is lost, and meanwhile its client
//     gets another session while the servers still have the old one
//   - the connection of an actor is cut, its session expires, or the actor is cut off
//     until its session has expired or its client has given up the session
//   - the context of a call ends, either with [context.Canceled] or with a cause that
//     matches every error that a careless check could take for an answer
//   - the client of an actor is closed
//   - in an ensemble: the leader resigns, a member is cut off, a member lags
//
// [Search] plays the natural course first, then every course with one deviation, then
// with two, and so on. A state that was seen before, with as many deviations left, is
// not searched again.
//
// # What is checked
//
// In each run of any scenario:
//
//   - No more actors are in a [Section] than it has room for, and they enter it
//     in the order of their fencing tokens.
//   - An [Actor.Call] whose context has ended returns with the cause. It also returns
//     when the client was closed, and Close itself returns.
//   - Every actor finishes once faults stop.
//   - At the end no ephemeral node, no session, no watch and no goroutine is left,
//     at a single server and at each member of an ensemble.
//
// A scenario adds its own checks by [World.Fail] and [World.AtEnd].
//
// # What is not
//
// Between two moves goroutines run as Go runs them. So if two goroutines of one client
// race without a message between them, the search sees only one order. The search has
// no yield points at which it could delay a goroutine: yield points in the calls of
// hooks were tried and found nothing.
//
// A state is identified by the messages that each client has received, and when. If a
// client has goroutines that race, or wakes them in the order of a map, the same
// choices may lead to another state. The tally counts such runs as diverged. Runs also
// diverge under the race detector, which runs goroutines in a random order. Packages
// math/rand and, with Go 1.26, crypto/rand draw the same numbers in each run, so that
// nodes have the same names. Package math/rand/v2 does not.
//
// The README in this folder says which faults of this module the search finds.
package explore
