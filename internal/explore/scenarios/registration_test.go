package scenarios

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/testing/zktest"
)

// register registers an instance, and checks after each move what the
// Registration says of its node. It returns nil if the client is closed.
func (l *listings) register(w *explore.World, a *explore.Actor, i discovery.Instance, opts ...discovery.RegistrationOption) *discovery.Registration {
	r, err := discovery.NewRegistration(a.Client(), registry, format, i, opts...)
	if err != nil {
		refuse(w, a, err)
		return nil
	}
	l.kept = append(l.kept, watchNode(a, l.before, r.Node()))
	return r
}

// says calls what changes the node of an instance. If it says that the node has
// it, the tree has had it.
func says(w *explore.World, a *explore.Actor, all *listings, r *discovery.Registration, what string, change func(context.Context) error) {
	err := a.Call(what, change)
	if now := r.Instance(); err == nil && !all.ever(now.ID, said(now)) {
		w.Fail("%s was told that its node says %q, which is not so", a.Name(), said(now))
	}
}

// registrationBesideADirectory has an actor whose instance moves, drains, comes
// back and leaves, and another one who finds it.
func registrationBesideADirectory(before, own trouble) explore.Scenario {
	return func(w *explore.World) {
		all := follow(w)
		done := make(chan struct{})
		w.Actor("A", func(a *explore.Actor) {
			defer close(done)
			before(a)
			r := all.register(w, a, order("a", 1))
			if r == nil {
				return
			}
			_ = a.Call("wait", func(ctx context.Context) error {
				_, err := r.WaitRegistered(ctx)
				return err
			})
			own(a)
			says(w, a, all, r, "update", func(ctx context.Context) error { return r.Update(ctx, order("a", 2)) })
			says(w, a, all, r, "drain", r.Drain)
			time.Sleep(time.Second)
			says(w, a, all, r, "resume", r.Resume)
			if a.Call("shut down", r.Shutdown) == nil {
				<-r.Done()
			}
		})
		w.Actor("B", func(a *explore.Actor) {
			if f := all.find(w, a); f != nil {
				_ = a.Call("wait until it is filled", f.directory.WaitSynced)
			}
			<-done
		})
		w.AtEnd(nothingBelow(orders))
	}
}

func TestRegistration(t *testing.T) {
	explore.Search(t, registrationBesideADirectory(none, none), quick())
}

func TestRegistrationAfterALoss(t *testing.T) {
	for _, c := range []struct {
		name string
		own  trouble
	}{{"lost", loss}, {"given up", givenUp}, {"expired", expired}} {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, registrationBesideADirectory(none, c.own), quick()) })
	}
}

// What the registrant asks for is carried out late, or it does not hear of that.
func TestRegistrationWithALostReply(t *testing.T) {
	for _, c := range []struct {
		name        string
		before, own trouble
	}{
		{"to its create", meets(zktest.OpCreate, zktest.DropReply()), none},
		{"to a late create", late(zktest.OpCreate), none},
		{"to a late update", none, late(zktest.OpSetData)},
		{"to its update", none, meets(zktest.OpSetData, zktest.DropReply())},
		{"to its delete", none, meets(zktest.OpDelete, zktest.DropReply())},
	} {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, registrationBesideADirectory(c.before, c.own), quick()) })
	}
}

func TestRegistrationWhoseFollowerLags(t *testing.T) {
	explore.Search(t, inEnsemble(registrationBesideADirectory(none, cut), 0, time.Second), quick())
}

// instancesOfOneID has two actors who want to register an instance with the same
// ID. The second one has it when the first one has shut down, or is in trouble.
// With the policy Fail it ends before that.
func instancesOfOneID(policy nodes.ConflictPolicy, kind discovery.Kind, first trouble) explore.Scenario {
	return func(w *explore.World) {
		all := follow(w)
		registered := w.Section("the ID", 1)
		for i, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				time.Sleep(time.Duration(i) * time.Second)
				is := order("a", i+1)
				is.Kind = kind
				r := all.register(w, a, is, discovery.WithConflictPolicy(policy))
				if r == nil {
					return
				}
				var there nodes.Registration
				err := a.Call("wait", func(ctx context.Context) (err error) {
					there, err = r.WaitRegistered(ctx)
					return err
				})
				if err == nil {
					leave := registered.Enter(a, there.Session.Context(), there.Czxid)
					if i == 0 {
						first(a)
					}
					time.Sleep(5 * time.Second)
					leave()
				} else if err := checkConflict(err, 2-i); err != nil {
					w.Fail("%s: %v", a.Name(), err)
				}
				if a.Call("shut down", r.Shutdown) == nil {
					<-r.Done()
				}
			})
		}
		w.AtEnd(func(tree explore.Tree) error {
			if kind == discovery.Permanent && slices.ContainsFunc(all.kept, func(k *kept) bool { return k.actor.Closed() }) {
				return nil // its node outlives its client
			}
			return nothingBelow(orders)(tree)
		})
	}
}

// checkConflict checks that a conflict names the other instance, if the error is
// one.
func checkConflict(err error, port int) error {
	var conflict *discovery.ConflictError
	if !reason.As(err, &conflict) {
		return nil
	}
	if got := conflict.Instance.Port; got != port && conflict.Node.Data != nil {
		return fmt.Errorf("the conflict is with an instance at port %d, and not %d", got, port)
	}
	return nil
}

func TestInstancesOfOneID(t *testing.T) {
	for _, c := range []struct {
		name string
		own  trouble
	}{{"in peace", none}, {"cut", cut}, {"lost", loss}, {"expired", expired}, {"given up", givenUp}, {"closed", closed}} {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, instancesOfOneID(nodes.Wait, discovery.Dynamic, c.own), quick()) })
	}
}

// shutDownInAnOutage has an actor whose instance is shut down while there is no
// connection. It is gone in the end, and another one of its ID comes.
func shutDownInAnOutage(outage trouble) explore.Scenario {
	return func(w *explore.World) {
		all := follow(w)
		done := make(chan struct{})
		w.Actor("A", func(a *explore.Actor) {
			defer close(done)
			r := all.register(w, a, order("a", 1))
			if r == nil {
				return
			}
			_ = a.Call("wait", func(ctx context.Context) error {
				_, err := r.WaitRegistered(ctx)
				return err
			})
			outage(a)
			_ = a.Call("shut down", func(ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				return r.Shutdown(ctx)
			})
			if a.Call("shut down again", r.Shutdown) == nil {
				<-r.Done()
			}
		})
		w.Actor("B", func(a *explore.Actor) {
			_ = all.find(w, a)
			<-done
		})
		w.AtEnd(nothingBelow(orders))
	}
}

func TestInstanceThatIsShutDownInAnOutage(t *testing.T) {
	for _, c := range []struct {
		name string
		own  trouble
	}{{"cut", cut}, {"lost", loss}, {"given up", givenUp}, {"expired", expired}} {
		t.Run(c.name, func(t *testing.T) { explore.Search(t, shutDownInAnOutage(c.own), quick()) })
	}
}
