package zktest

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/thorough"
)

// TestEnsembleChaos is to an ensemble what TestChaos is to a server: members
// come and go, lag and are cut off, and the history must stay one. At the end
// all members agree.
func TestEnsembleChaos(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seed := SeedOf(t)
		ens := StartEnsemble(t, 5, WithReadOnlyMode())
		var wg sync.WaitGroup
		over := make(chan struct{})
		for i := range 6 {
			wg.Go(func() { wander(t, ens.Members()[i%5].Server, rand.New(rand.NewPCG(seed, uint64(i))), over) })
		}
		h := &historian{seen: make(map[int64][]Node)}
		meddle(t, ens, h, rand.New(rand.NewPCG(seed, 100)))
		ens.recover()
		leader, err := ens.WaitLeader(t.Context())
		require.NoError(t, err)
		synctest.Wait()
		for _, m := range ens.Members() {
			require.Equal(t, leader.Tree(), m.Tree())
			require.Equal(t, leader.Zxid(), m.Zxid())
		}
		close(over)
		require.NoError(t, ens.Close())
		wg.Wait()
	})
}

// recover ends all that meddle may have done.
func (e *Ensemble) recover() {
	for _, m := range e.Members() {
		m.Lag(0)
		m.Restart()
		m.Resume()
		m.Heal()
		m.RefuseConnections(false)
	}
	e.Heal()
}

func meddle(t *testing.T, ens *Ensemble, h *historian, r *rand.Rand) {
	anyone := func() *Member { return ens.Members()[r.IntN(5)] }
	someone := func() int64 {
		if list := ens.Members()[0].Sessions(); len(list) > 0 {
			return list[r.IntN(len(list))].ID
		}
		return 1
	}
	disruptions := []func(){
		func() { anyone().Session(someone()).Expire() },
		func() { anyone().Session(someone()).Replace() },
		func() { anyone().CutAll() },
		func() { anyone().Session(someone()).Blackhole() },
		func() { anyone().BlackholeAll() },
		func() { anyone().Heal() },
		func() { anyone().Stop() },
		func() { anyone().Restart() },
		func() { anyone().Restart() },
		func() { anyone().Pause() },
		func() { anyone().Resume() },
		func() { anyone().Resume() },
		func() { anyone().Lag(time.Duration(r.IntN(2000)) * time.Millisecond) },
		func() { anyone().Lag(Forever) },
		func() { anyone().Lag(0) },
		func() { ens.Partition(anyone()) },
		func() { ens.Partition(anyone(), anyone()) },
		ens.Heal,
		func() { anyone().Resign() },
		func() { ens.Session(someone()).MoveTo(anyone()) },
		func() { anyone().Session(someone()).Pause() },
		func() { anyone().Session(someone()).Resume() },
		func() { anyone().JumpClock(time.Second) },
		func() { anyone().ReapContainers() },
		func() { _ = anyone().Delete("/a") },
		func() { _ = anyone().Create("/a/b", nil) },
		func() { _ = anyone().SetSequence("/a", 1<<31-1) },
		func() {
			anyone().Inject(Rule{Do: []Action{DropReply(), Blackhole(), BlackholeReply(), DelayReply(time.Second), HoldRequest(time.Second)}[r.IntN(5)]})
		},
		func() { _ = ens.Dump() },
		ens.recover,
	}
	for range thorough.Size(1000, 300) {
		disruptions[r.IntN(len(disruptions))]()
		h.audit(t, ens)
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
	}
}

// historian compares what members have at the same zxid, now and ever before.
type historian struct{ seen map[int64][]Node }

func (h *historian) audit(t *testing.T, ens *Ensemble) {
	t.Helper()
	ens.mu.Lock()
	defer ens.mu.Unlock()
	for _, m := range ens.members {
		require.NoError(t, errors.Join(m.tree.Verify(), m.auditMember()))
		nodes := m.belowLocked("/")
		if before, known := h.seen[m.zxid]; known {
			require.Equal(t, before, nodes, "two histories at %#x", m.zxid)
		} else {
			h.seen[m.zxid] = nodes
		}
	}
}

func (m *Member) auditMember() error {
	switch {
	case m.leader == nil && len(m.pending) > 0:
		return errors.New("an answer that nobody will send")
	case m.leader == nil && len(m.queue) > 0:
		return errors.New("transactions that nobody will apply")
	case m.received > len(m.queue):
		return errors.New("more received than there is")
	case m.ens.leader == m && m.ahead == nil && len(m.queue) > 0:
		return errors.New("a leader that does not apply what it has made")
	case m.readOnly.on && (m.leader != nil || !m.upLocked()):
		return errors.New("read-only with a leader, or without a process")
	case !m.readOnly.on && len(m.ownSessionsLocked()) > 0:
		return errors.New("a session that nobody serves")
	}
	for c := range m.conns {
		if m.leader == nil && !m.readOnly.on && !c.blackHole {
			return errors.New("a member without a leader has clients")
		}
	}
	return nil
}
