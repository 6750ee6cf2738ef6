// Package explore plays a small scenario of clients in every order in which
// things may happen, and with every fault at every place, up to a number of
// deviations from the natural course. What a test has to imagine, the search
// finds by itself.
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
// package zktest. Each time that all goroutines wait, the search makes one move.
// The natural move is the first of them, which costs nothing: the oldest message
// arrives, or if there is none, time passes until something happens. Every other
// move is a deviation:
//
//   - a message arrives later: behind the others that are under way, or when
//     nothing else is, or after a second
//   - a request is lost, or its answer, with the connection; a connection becomes
//     a black hole
//   - a request is carried out late, or its answer is lost, and its client has
//     another session by then, while the servers still have the old one
//   - the connection of an actor is cut, its session expires, or the actor is cut
//     off until its session has expired, or until its client has given it up
//   - the context of a call ends, once with [context.Canceled], and once with a
//     cause that matches every error that a careless check could take for an
//     answer
//   - the client of an actor is closed
//   - in an ensemble: the leader resigns, a member is cut off, a member lags
//
// [Search] plays the natural course first, then every course with one deviation,
// then with two, and so on. States that have been seen before, with as many
// deviations left, are not searched again.
//
// # What is checked
//
// In each run, whatever the scenario does:
//
//   - No more actors are in a [Section] than it has room for, and they enter it
//     in the order of their fencing tokens.
//   - A [Actor.Call] whose context has ended returns, and says why. It also returns
//     when the client was closed, and Close itself returns.
//   - Every actor comes to its end, if the world leaves it in peace.
//   - At the end no ephemeral node, no session, no watch and no goroutine is left,
//     at a single server and at each member of an ensemble.
//
// A scenario adds its own by [World.Fail] and [World.AtEnd].
//
// # What is not
//
// Between two moves goroutines run as Go runs them. So two goroutines of one
// client that race for something without a message between them are seen in one
// order only. There are no yield points, at which the search would hold one of them
// back: in the calls of hooks, they found nothing.
//
// A state is told by what each client has been sent, and when. If a client has
// goroutines that race, or wakes them in the order of a map, the same choices may
// lead to another state. The tally counts such runs as diverged. So it is with the
// race detector, which runs goroutines in a random order. Packages math/rand and,
// with Go 1.26, crypto/rand draw the same numbers in each run, so that nodes have
// the same names. Package math/rand/v2 does not.
//
// The README beside this file says which faults of this module the search finds.
package explore
