package scenarios

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/explore"
	"github.com/gocurator/curator/internal/histories"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/testing/zktest"
)

// ledger knows what each caller was told of its addition. Each adds another
// power of ten, so that the digits of a number say who is in it, and how often.
type ledger struct {
	world *explore.World
	calls histories.History
	knows bool // there are no unknown outcomes, unless a caller gives up or its session is lost

	mu      sync.Mutex // protects the following fields
	applied int64      // the sum of the additions that were told as applied
	unknown int64      // the sum of those of unknown outcome
}

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

// told notes the answer of an addition. before is what was applied before it
// began.
func (l *ledger) told(a *explore.Actor, delta, before, now int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.applied += delta
		if missing := lacks(now, before+delta); missing != 0 {
			l.world.Fail("%s was told %d, in which %d is missing", a.Name(), now, missing)
		}
	case reason.Is(err, framework.ErrOutcomeUnknown):
		l.unknown += delta
	}
}

// sum returns the sum of the additions that were told as applied.
func (l *ledger) sum() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.applied
}

// lacks returns a digit of want that number does not have, or has more than
// once, or 0.
func lacks(number, want int64) int64 {
	for digit := int64(1); digit <= max(want, number); digit *= 10 {
		have, least := number/digit%10, want/digit%10
		if have < least || have > 1 {
			return digit
		}
	}
	return 0
}

// check looks at the number in the end.
func (l *ledger) check(data []byte) error {
	number := int64(0)
	if len(data) > 0 {
		number = int64(binary.BigEndian.Uint64(data))
	}
	if lacks(number, l.applied) != 0 || lacks(l.applied+l.unknown, number) != 0 {
		return fmt.Errorf("the number is %d, of which %d was told as applied, and %d as unknown", number, l.applied, l.unknown)
	}
	l.calls.Begin(0).End(histories.Read{}, number)
	return l.calls.Check(histories.Value[int64](0))
}

// long has actors who add twice, one after the other, or at once if together is
// true: then one write has both.
func long(contenders int, together bool, opts ...atomic.Option) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/count", "")
		w.Node("/receipts", "")
		book := &ledger{world: w}
		delta := int64(1)
		for _, name := range names(contenders) {
			deltas := []int64{delta, delta * 10}
			delta *= 100
			w.Actor(name, func(a *explore.Actor) {
				count := atomic.NewLong(a.Client(), "/count", opts...)
				var all sync.WaitGroup
				for _, delta := range deltas {
					if together {
						all.Go(func() { book.add(a, count, delta) })
					} else {
						book.add(a, count, delta)
					}
				}
				all.Wait()
			})
		}
		w.Stays("/receipts")
		w.AtEnd(func(tree explore.Tree) error {
			if n := len(below(tree, "/receipts")); n > contenders {
				return fmt.Errorf("%d receipts are left", n)
			}
			return book.check(tree["/count"].Data)
		})
	}
}

func (l *ledger) add(a *explore.Actor, count *atomic.Long, delta int64) {
	before, now, session := l.sum(), int64(0), a.Client().SessionID()
	call := l.calls.Begin(int(a.Name()[0]))
	err := a.Call(fmt.Sprintf("add %d", delta), func(ctx context.Context) (err error) {
		now, err = count.Add(ctx, delta)
		if err != nil && ctx.Err() == nil && !reason.Is(err, framework.ErrOutcomeUnknown) && !isEnd(a, err) {
			l.world.Fail("%s does not wait: %v", a.Name(), err)
		}
		if err != nil && ctx.Err() == nil && l.knows && session == a.Client().SessionID() && !isEnd(a, err) {
			l.world.Fail("%s does not know what has come of its addition: %v", a.Name(), err)
		}
		return err
	})
	note(call, histories.Add(delta), now, err)
	l.told(a, delta, before, now, err)
}

func TestLongOfTwo(t *testing.T) { explore.Search(t, long(2, false), quick()) }

func TestLongWithSeveralAddsAtOnce(t *testing.T) { explore.Search(t, long(2, true), quick()) }

// The reply to the first write is lost, or the write comes late.
func TestLongWhoseReplyIsLost(t *testing.T) {
	explore.Search(t, startsWith(meets(zktest.OpSetData, zktest.DropReply()), long(2, false)), quick())
}

func TestLongWhoseWriteIsLate(t *testing.T) {
	explore.Search(t, startsWith(late(zktest.OpSetData), long(2, false)), quick())
}

func TestLongWithReceiptsWhoseReplyIsLost(t *testing.T) {
	explore.Search(t, startsWith(meets(zktest.OpMulti, zktest.DropReply()), long(2, false, atomic.WithReceipts("/receipts"))), quick())
}

func TestLongWithReceiptsWhoseWriteIsLate(t *testing.T) {
	explore.Search(t, startsWith(late(zktest.OpMulti), long(2, false, atomic.WithReceipts("/receipts"))), quick())
}

func TestLongWhoseLeaderLags(t *testing.T) {
	explore.Search(t, inEnsemble(startsWith(meets(zktest.OpSetData, zktest.DropReply()), long(2, false)), time.Second), quick())
}

// Of two who claim something by the same data, no more than one is told that it
// has it.
func claim() explore.Scenario {
	return startsWith(meets(zktest.OpSetData, zktest.DropRequest()), func(w *explore.World) {
		w.Node("/value", "free")
		claimed := 0
		for _, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				v := atomic.NewValue(a.Client(), "/value", text)
				_ = a.Call("claim", func(ctx context.Context) error {
					ok, err := v.CompareAndSwap(ctx, "free", "taken")
					if ok && err == nil {
						claimed++
					}
					return err
				})
				if claimed > 1 {
					w.Fail("both have claimed it")
				}
			})
		}
	})
}

func TestAtomicValueThatIsClaimed(t *testing.T) { explore.Search(t, claim(), quick()) }

// Whoever loads the value, or has an Update refuse it, sees all that was written
// before, also if a server lags.
func TestAtomicValueWhoseFollowerLags(t *testing.T) {
	explore.Search(t, inEnsemble(loadsAndRefuses, 0, time.Second), quick())
}

func TestAtomicValueThatIsRefused(t *testing.T) { explore.Search(t, loadsAndRefuses, quick()) }

func loadsAndRefuses(w *explore.World) {
	w.Node("/value", "seed")
	h := &writes{world: w}
	w.Always(h.record)
	w.AtEnd(h.record)
	known := 0 // of the writes: all up to this one were told as applied, or seen
	for _, name := range names(2) {
		w.Actor(name, func(a *explore.Actor) {
			v := atomic.NewValue(a.Client(), "/value", text)
			saw := func(what string, before int, data string) {
				if i := h.find(data); i < before {
					w.Fail("%s: %s has seen %q, and %q was there before", a.Name(), what, data, h.all[before].Value)
				} else {
					known = max(known, i)
				}
			}
			for _, data := range []string{name + " one", name + " two"} {
				if a.Call("store", func(ctx context.Context) error { return v.Store(ctx, data) }) == nil {
					known = max(known, h.find(data))
				}
				before := known
				var seen string
				if a.Call("load", func(ctx context.Context) (err error) {
					seen, err = v.Load(ctx)
					return err
				}) == nil {
					saw("Load", before, seen)
				}
				a.Pause("thinks")
				before, seen = known, ""
				_ = a.Call("update and refuse", func(ctx context.Context) error {
					_, err := v.Update(ctx, func(data string) (string, error) {
						seen = data
						return "", errRefused
					})
					if reason.Is(err, errRefused) {
						saw("Update", before, seen)
						return nil
					}
					return err
				})
			}
		})
	}
}

var errRefused = errors.New("refused")

// atomicValue has two actors who write a value in three ways.
func atomicValue() explore.Scenario {
	return func(w *explore.World) {
		w.Node("/value", "seed")
		h := &writes{world: w}
		w.Always(h.record)
		w.AtEnd(h.record)
		w.AtEnd(h.checkCalls)
		for _, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				v := atomic.NewValue(a.Client(), "/value", text)
				var old string
				if a.Call("load", func(ctx context.Context) (err error) {
					old, err = v.Load(ctx)
					return err
				}) == nil {
					h.write(a, &old, "swaps", func(ctx context.Context, data string) (bool, error) {
						return v.CompareAndSwap(ctx, old, data)
					})
				}
				h.write(a, nil, "stores", func(ctx context.Context, data string) (bool, error) {
					return true, v.Store(ctx, data)
				})
				h.write(a, &old, "updates", func(ctx context.Context, data string) (bool, error) {
					_, err := v.Update(ctx, func(before string) (string, error) {
						old = before
						return data, nil
					})
					return true, err
				})
			})
		}
	}
}

// write calls do, which writes data that nobody else writes, and notes what it
// was told. old is what is to be replaced, or nil.
func (h *writes) write(a *explore.Actor, old *string, how string, do func(ctx context.Context, data string) (bool, error)) {
	data, ok := a.Name()+" "+how, false
	call := h.calls.Begin(int(a.Name()[0]))
	err := a.Call(how, func(ctx context.Context) (err error) {
		ok, err = do(ctx, data)
		return err
	})
	h.note(call, old, data, ok, err)
	ok = ok && err == nil
	h.told(a, nil, data, ok, err)
	if i := h.find(data); ok && old != nil && i > 0 && h.all[i-1].Value != *old {
		h.world.Fail("%s has overwritten %q, and not %q", a.Name(), h.all[i-1].Value, *old)
	}
}

func TestAtomicValue(t *testing.T) { explore.Search(t, atomicValue(), quick()) }

// Nobody gets a number twice, nor one that is less than what somebody had before.
func TestSequence(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Node("/sequence", "")
		var last, lastDense int64
		for _, name := range names(2) {
			w.Actor(name, func(a *explore.Actor) {
				numbers := atomic.NewSequence(a.Client(), "/sequence")
				draw := func(what string, last *int64, next func(context.Context) (int64, error)) {
					before, number := *last, int64(0)
					if a.Call(what, func(ctx context.Context) (err error) {
						number, err = next(ctx)
						return err
					}) != nil {
						return
					}
					if number <= before {
						w.Fail("%s: %s is %d after %d", a.Name(), what, number, before)
					}
					*last = max(*last, number)
				}
				dense := func(ctx context.Context) (int64, error) {
					n, err := numbers.NextDense(ctx)
					return int64(n), err
				}
				draw("next", &last, numbers.Next)
				draw("next dense", &lastDense, dense)
				draw("next again", &last, numbers.Next)
				draw("next dense again", &lastDense, dense)
			})
		}
	}, quick())
}
