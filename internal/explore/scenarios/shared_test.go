package scenarios

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/histories"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/codec"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/testing/zktest"
)

// note notes for the history what a caller has asked for, and was told. One that was
// refused has no part in it.
func note(call histories.Call, asked, told any, err error) {
	switch {
	case err == nil:
		call.End(asked, told)
	case reason.Is(err, framework.ErrOutcomeUnknown):
		call.Open(asked)
	}
}

// text is the codec of strings.
var text = codec.Codec[string]{
	Encode: func(s string) ([]byte, error) { return []byte(s), nil },
	Decode: func(b []byte) (string, error) { return string(b), nil },
}

type (
	version = shared.Versioned[string]
	value   = shared.Value[string]
)

// writes is every value that the node has had, in order. No two writers write the
// same, and none writes the same twice.
type writes struct {
	world   *explore.World
	calls   histories.History
	all     []version
	refused []string // values that were told as not written
	remade  bool     // the node is deleted meanwhile, and re-created by the next write
}

// record is called after each move.
func (h *writes) record(tree explore.Tree) error {
	now := version{Value: "seed"}
	if n, ok := tree["/value"]; ok {
		now = version{Value: string(n.Data), Exists: true, Version: n.Stat.Version, Mzxid: n.Stat.Mzxid, Czxid: n.Stat.Czxid}
	}
	if len(h.all) == 0 || h.all[len(h.all)-1] != now {
		h.all = append(h.all, now)
	}
	for i, v := range h.all {
		if v.Exists && v.Value != "seed" && slices.ContainsFunc(h.all[:i], func(o version) bool { return o.Value == v.Value }) {
			return fmt.Errorf("%s was written twice", v.Value)
		}
		if slices.Contains(h.refused, v.Value) {
			return fmt.Errorf("%s was written, and told as not written", v.Value)
		}
	}
	return nil
}

// told notes what the writer of a value was told. previous is what the value was
// to replace, or nil for any.
func (h *writes) told(a *explore.Actor, previous *version, data string, ok bool, err error) {
	i := h.find(data)
	switch replaced := reason.Is(err, shared.ErrNodeReplaced); {
	case ok && (err == nil || replaced) && i < 1:
		h.world.Fail("%s was told that it has written %s, which is not so", a.Name(), data)
	case ok && err == nil && previous != nil && h.all[i-1] != *previous:
		h.world.Fail("%s has overwritten %+v, and not %+v", a.Name(), h.all[i-1], *previous)
	case ok && replaced && previous != nil && h.all[i-1].Czxid == previous.Czxid:
		h.world.Fail("%s was told that %+v was re-created, but it was not", a.Name(), *previous)
	case !ok && !reason.Is(err, framework.ErrOutcomeUnknown):
		h.refused = append(h.refused, data)
	}
}

// note notes a call for the history. old is what was to be replaced, or nil for any.
func (h *writes) note(call histories.Call, old *string, data string, ok bool, err error) {
	if old == nil {
		note(call, histories.Set[string]{Value: data}, nil, err)
		return
	}
	note(call, histories.Swap[string]{Old: *old, New: data}, histories.Done(ok), err)
}

// checkCalls looks for an order of the calls that explains what each was told, and
// what the value is at the end.
func (h *writes) checkCalls(tree explore.Tree) error {
	h.calls.Begin(0).End(histories.Read{}, string(tree["/value"].Data))
	return h.calls.Check(histories.Value("seed"))
}

// find returns when the node has got a value, or -1.
func (h *writes) find(data string) int {
	return slices.IndexFunc(h.all, func(v version) bool { return v.Value == data })
}

// follower checks what a Value shows.
type follower struct {
	actor *explore.Actor
	value *value
	shown int     // which of the writes it shows
	heard version // from Changes
}

func (f *follower) listen() {
	for v, err := range f.value.Changes(context.Background()) {
		if err == nil {
			f.heard = v
		}
	}
}

// check is called after each move.
func (f *follower) check(h *writes) error {
	now, err := f.value.Get()
	if err != nil {
		return nil // it has not been read yet
	}
	later := slices.Index(h.all[f.shown:], now)
	if later < 0 {
		return fmt.Errorf("a value shows %+v after %+v, and was %+v", now, h.all[f.shown], h.all)
	}
	f.shown += later
	return nil
}

// end looks at what the Value shows in the end.
func (f *follower) end(h *writes) error {
	if last := h.all[len(h.all)-1]; !f.actor.Closed() && (h.all[f.shown] != last || f.heard != last) {
		return fmt.Errorf("a value shows %+v, and has reported %+v, and is %+v", h.all[f.shown], f.heard, last)
	}
	return f.value.Close()
}

// sharedValue has two actors who write the value, each in two ways. In between, the
// first actor meets trouble, and the second deletes the node if remove is true.
func sharedValue(remove bool, first trouble) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/value", "seed")
		// A request waits for a connection for that long. Two outages in a row may last
		// longer than the default, and no longer than this.
		w.ClientOptions(framework.WithConnectionTimeout(time.Minute))
		h := &writes{world: w, remade: remove}
		var followers []*follower
		w.Always(func(tree explore.Tree) error {
			err := h.record(tree)
			for _, f := range followers {
				if err == nil {
					err = f.check(h)
				}
			}
			return err
		})
		for _, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				v, err := shared.NewValue(a.Client(), "/value", text, "seed")
				if err != nil {
					refuse(w, a, err)
					return
				}
				f := &follower{actor: a, value: v}
				followers = append(followers, f)
				go f.listen()
				data := name + " tries"
				if a.Call("wait", v.WaitSynced) == nil {
					previous, _ := v.Get()
					ok, call := false, h.calls.Begin(int(a.Name()[0]))
					err := a.Call("try", func(ctx context.Context) (err error) {
						_, ok, err = v.TrySet(ctx, previous, data)
						return h.survives(ctx, a, "TrySet", err)
					})
					h.note(call, &previous.Value, data, ok, err)
					h.told(a, &previous, data, ok, err)
				}
				if remove && name == "B" {
					_ = a.Call("delete", func(ctx context.Context) error {
						return a.Client().Delete(ctx, "/value", framework.AnyVersion)
					})
				}
				if name == "A" {
					first(a)
				}
				data = name + " sets"
				call := h.calls.Begin(int(name[0]))
				err = a.Call("set", func(ctx context.Context) error {
					return h.survives(ctx, a, "Set", v.Set(ctx, data))
				})
				h.note(call, nil, data, true, err)
				h.told(a, nil, data, err == nil, err)
				h.update(a, name+" updates", v)
			})
		}
		w.AtEnd(func(tree explore.Tree) error {
			err := h.record(tree)
			for _, f := range followers {
				if err == nil {
					err = f.check(h)
				}
				if err == nil {
					err = f.end(h)
				}
			}
			if err == nil && !remove {
				err = h.checkCalls(tree)
			}
			return err
		})
	}
}

// survives returns the error of a call. Unless the context has ended, the error says
// that the outcome is unknown, or is nil. The compare-and-set of a server compares the
// version alone: if the node was deleted and re-created, TrySet and Update may
// overwrite a value that they do not know. They report that by shared.ErrNodeReplaced.
func (h *writes) survives(ctx context.Context, a *explore.Actor, what string, err error) error {
	replaced := h.remade && reason.Is(err, shared.ErrNodeReplaced)
	if err != nil && ctx.Err() == nil && !isEnd(a, err) && !reason.Is(err, framework.ErrOutcomeUnknown) && !replaced {
		h.world.Fail("%s of %s does not survive the faults: %v", what, a.Name(), err)
	}
	return err
}

// update replaces the value by one that nobody else writes.
func (h *writes) update(a *explore.Actor, data string, v *value) {
	old := ""
	call := h.calls.Begin(int(a.Name()[0]))
	err := a.Call("update", func(ctx context.Context) error {
		_, err := v.Update(ctx, func(before string) (string, error) {
			old = before
			return data, nil
		})
		return h.survives(ctx, a, "Update", err)
	})
	h.note(call, &old, data, true, err)
	h.told(a, nil, data, err == nil || reason.Is(err, shared.ErrNodeReplaced), err)
	if i := h.find(data); err == nil && i > 0 && h.all[i-1].Value != old {
		h.world.Fail("%s has overwritten %q, and not %q", a.Name(), h.all[i-1].Value, old)
	}
}

// The replies to what the first one writes are lost, or its requests come late.
func TestSharedValueWhoseRepliesAreLost(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpSetData, zktest.OpMulti} {
		t.Run(fmt.Sprint(op), func(t *testing.T) {
			explore.Search(t, startsWith(meets(op, zktest.DropReply()), sharedValue(false, meets(op, zktest.DropReply()))), quick())
		})
	}
}

func TestSharedValueWhoseWritesAreLate(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpSetData, zktest.OpMulti} {
		t.Run(fmt.Sprint(op), func(t *testing.T) {
			explore.Search(t, startsWith(late(op), sharedValue(false, late(op))), quick())
		})
	}
}

// Nobody is misled by servers that lag.
func TestSharedValueWhoseLeaderLags(t *testing.T) {
	searchAtEach(t, sharedValue(false, func(a *explore.Actor) {
		time.Sleep(2 * time.Second) // the leader has caught up with all that the client has seen
		a.Meets(zktest.OpMulti, zktest.DropReply())
	}), time.Second)
}

func TestSharedValueWhoseFollowerLags(t *testing.T) {
	explore.Search(t, inEnsemble(sharedValue(false, cut), 0, time.Second), quick())
}

// Two try to write the same. No more of them are told that they have written than
// the node has versions.
func TestSharedValueThatStaysTheSame(t *testing.T) {
	for _, data := range []string{"seed", "other"} {
		t.Run(data, func(t *testing.T) {
			explore.Search(t, startsWith(meets(zktest.OpSetData, zktest.DropRequest()), func(w *explore.World) {
				w.Node("/value", "seed")
				var applied, unknown int32
				for _, name := range names(2) {
					w.Actor(name, func(a *explore.Actor) {
						v, err := shared.NewValue(a.Client(), "/value", text, "seed")
						if err != nil {
							refuse(w, a, err)
							return
						}
						for range 2 {
							_ = a.Call("try", func(ctx context.Context) error {
								previous, err := v.Refresh(ctx)
								if err != nil {
									return err
								}
								_, ok, err := v.TrySet(ctx, previous, data)
								switch {
								case ok && err == nil:
									applied++
								case reason.Is(err, framework.ErrOutcomeUnknown):
									unknown++
								}
								return err
							})
						}
						_ = v.Close()
					})
				}
				w.AtEnd(func(tree explore.Tree) error {
					if n := tree["/value"].Stat.Version; n < applied || n > applied+unknown {
						return fmt.Errorf("the value was set %d times, of which %d were told as applied, and %d as unknown", n, applied, unknown)
					}
					return nil
				})
			}), quick())
		})
	}
}

func TestSharedValue(t *testing.T) { explore.Search(t, sharedValue(false, none), quick()) }

func TestSharedValueAfterAnExpiry(t *testing.T) {
	explore.Search(t, sharedValue(false, expired), quick())
}

func TestSharedValueThatIsDeleted(t *testing.T) { explore.Search(t, sharedValue(true, none), quick()) }

// With several servers, what is read may be older than what was read before.
func TestSharedValueInAnEnsemble(t *testing.T) {
	explore.Search(t, inEnsemble(sharedValue(false, cut)), quick())
}
