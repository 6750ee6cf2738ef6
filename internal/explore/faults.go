package explore

import (
	"fmt"
	"time"

	"github.com/gocurator/curator/internal/zkinside"
)

// faults are the temporary faults of the servers.
type faults struct {
	repairs []repair
}

type repair struct {
	due time.Time
	do  func()
}

// during begins a fault, which ends some time later.
func (w *World) during(d time.Duration, begin, end func()) {
	begin()
	w.faults.repairs = append(w.faults.repairs, repair{time.Now().Add(d), end})
}

// repairDue ends the faults whose time is over. It returns how long the next fault
// lasts, but at most limit.
func (w *World) repairDue(limit time.Duration) time.Duration {
	var open []repair
	for _, r := range w.faults.repairs {
		if left := time.Until(r.due); left > 0 {
			open = append(open, r)
			limit = min(limit, left)
			continue
		}
		r.do()
	}
	w.faults.repairs = open
	return limit
}

// repairAll ends all faults at once.
func (w *World) repairAll() {
	for _, r := range w.faults.repairs {
		r.do()
	}
	w.faults.repairs = nil
	for _, a := range w.actors {
		a.host.Heal()
	}
}

// memberMoves are the faults of an ensemble's members. Each fault disturbs all actors.
func (w *World) memberMoves() []move {
	if w.ensemble == nil || len(w.faults.repairs) > 0 {
		return nil
	}
	leader := w.ensemble.Leader()
	if leader == nil {
		return nil
	}
	all := func(do func()) func() {
		return func() {
			for _, a := range w.actors {
				a.disturb()
			}
			do()
		}
	}
	moves := []move{
		{text: "the leader resigns", do: all(func() { zkinside.Of(leader).Resign() })},
		{text: "the leader is cut off from the others", do: all(func() {
			w.during(shortWait, func() { w.ensemble.Partition(leader) }, w.ensemble.Heal)
		})},
	}
	for _, m := range w.ensemble.Members() {
		moves = append(moves, move{text: fmt.Sprintf("member %d lags", m.ID()), do: all(func() {
			w.during(shortWait, func() { _ = m.Lag(shortWait / 4) }, func() { _ = m.Lag(0) })
		})})
	}
	return moves
}

// beginLags lets members lag for as long as the actors play.
func (w *World) beginLags() {
	if w.ensemble == nil {
		return
	}
	for _, m := range w.ensemble.Members() {
		if d := w.lags[m.ID()]; d > 0 {
			w.during(time.Hour, func() { _ = m.Lag(d) }, func() { _ = m.Lag(0) })
		}
	}
}
