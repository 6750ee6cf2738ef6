package scenarios

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/reason"
	"github.com/gocurator/curator/recipes/atomic"
	"github.com/gocurator/curator/testing/explore"
)

// ledger knows what each caller was told of its addition. Each adds another
// power of ten, so that the digits of a number say who is in it, and how often.
type ledger struct {
	world   *explore.World
	applied int64 // the sum of the additions that were told as applied
	unknown int64 // the sum of those of unknown outcome
}

// told notes the answer of an addition. before is what was applied before it
// began.
func (l *ledger) told(a *explore.Actor, delta, before, now int64, err error) {
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
	return nil
}

func long(contenders int, opts ...atomic.Option) explore.Scenario {
	return func(w *explore.World) {
		w.Node("/count", "")
		w.Node("/receipts", "")
		w.Node("/lock", "")
		book := &ledger{world: w}
		delta := int64(1)
		for _, name := range names(contenders) {
			deltas := []int64{delta, delta * 10}
			delta *= 100
			w.Actor(name, func(a *explore.Actor) {
				count := atomic.NewLong(a.Client(), "/count", opts...)
				for _, delta := range deltas {
					before, now := book.applied, int64(0)
					err := a.Call(fmt.Sprintf("add %d", delta), func(ctx context.Context) (err error) {
						now, err = count.Add(ctx, delta)
						if err != nil && ctx.Err() == nil && !reason.Is(err, framework.ErrOutcomeUnknown) {
							w.Fail("%s does not wait: %v", name, err)
						}
						return err
					})
					book.told(a, delta, before, now, err)
				}
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

func TestLongOfTwo(t *testing.T) { explore.Search(t, long(2), quick) }

func TestLongWithReceipts(t *testing.T) {
	explore.Search(t, long(2, atomic.WithReceipts("/receipts")), quick)
}

func TestLongUnderALock(t *testing.T) {
	explore.Search(t, long(2, atomic.WithReceipts("/receipts"), atomic.WithPromotion("/lock", 1)), quick)
}

// With several servers, the number that is read may be older than the one that
// is there.
func TestLongInAnEnsemble(t *testing.T) {
	explore.Search(t, func(w *explore.World) {
		w.Ensemble(3)
		long(2, atomic.WithReceipts("/receipts"))(w)
	}, quick)
}

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
	}, quick)
}
