package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zktest"
)

// market is a server with a ledger, in virtual time.
type market struct {
	t   *testing.T
	srv *zktest.Server
	cfg config
	ledger
}

const marketSession = 9 * time.Second

// inMarket runs a test in virtual time with a stock of 10 caps.
func inMarket(t *testing.T, test func(t *testing.T, m *market)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &market{t: t, srv: zktest.Start(t), cfg: config{stock: []article{{"cap", 10}}}}
		m.ledger = ledger{m.connect(), "/flashsale/test"}
		require.NoError(t, m.open(t.Context(), m.cfg.stock))
		test(t, m)
	})
}

func (m *market) connect() *framework.Client {
	c, err := framework.New(m.srv.Addr(),
		framework.WithDialer(m.srv.Dialer()), framework.WithSessionTimeout(marketSession))
	require.NoError(m.t, err)
	m.t.Cleanup(func() { c.Close() })
	require.NoError(m.t, c.WaitConnected(m.t.Context()))
	return c
}

// newSeller returns a seller with its own client.
func (m *market) newSeller(name string) *seller {
	return &seller{
		ledger: ledger{m.connect(), m.root}, worker: name, think: time.Millisecond,
		reached: func(context.Context, moment) {},
	}
}

func caps(id string, n int) order { return order{ID: id, Article: "cap", Quantity: n} }

func (m *market) sell(s *seller, o order) answer {
	m.t.Helper()
	a, err := s.sell(m.t.Context(), o)
	require.NoError(m.t, err)
	return a
}

func (m *market) requireBooks(orders []order, answers []answer) {
	m.t.Helper()
	m.cfg.orders = orders
	var results []result
	for _, a := range answers {
		for _, o := range orders {
			if o.ID == a.Order {
				results = append(results, result{o, a, 1})
			}
		}
	}
	b, err := m.books(m.t.Context(), m.cfg.stock)
	require.NoError(m.t, err)
	for _, c := range b.audit(m.cfg, results).checks {
		require.Empty(m.t, c.problems, c.rule)
	}
}

func TestSellUntilEmpty(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		s := m.newSeller("oslo")
		orders := []order{caps("a", 6), caps("b", 5), caps("c", 4), caps("d", 1)}
		var answers []answer
		for _, o := range orders {
			answers = append(answers, m.sell(s, o))
		}
		require.True(t, answers[0].Sold)
		require.False(t, answers[1].Sold)
		require.Equal(t, 4, answers[1].Left)
		require.True(t, answers[2].Sold, "a smaller order may still fit")
		require.False(t, answers[3].Sold)
		m.requireBooks(orders, answers)
	})
}

func TestSellingAgainChangesNothing(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		first := m.sell(m.newSeller("oslo"), caps("a", 6))
		m.srv.ClearRequests()
		again := m.sell(m.newSeller("rome"), caps("a", 6))
		require.True(t, again.Found)
		require.Equal(t, first.Token, again.Token)
		require.Zero(t, m.srv.CountRequests(zktest.OpSetData))
		m.requireBooks([]order{caps("a", 6)}, []answer{again})
	})
}

// The session of the holder expires before its write. It must not write, and
// must find that another seller has taken the units.
func TestLostLeaseWritesNothing(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		oslo, rome := m.newSeller("oslo"), m.newSeller("rome")
		var fromRome answer
		var once sync.Once
		oslo.reached = func(lease context.Context, at moment) {
			once.Do(func() {
				require.Equal(t, beforeWrite, at)
				m.srv.Session(oslo.ledger.client.SessionID()).Expire()
				<-lease.Done()
				fromRome = m.sell(rome, caps("b", 6))
			})
		}
		fromOslo := m.sell(oslo, caps("a", 6))
		require.True(t, fromRome.Sold)
		require.False(t, fromOslo.Sold)
		require.Equal(t, 1, m.srv.CountRequests(zktest.OpSetData))
		m.requireBooks([]order{caps("a", 6), caps("b", 6)}, []answer{fromOslo, fromRome})
	})
}

// The server applies the write, but the reply is lost and so is the session.
// The ledger has the outcome.
func TestUnknownOutcomeIsLookedUp(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		oslo := m.newSeller("oslo")
		outage := zktest.CallAfter(func(zktest.Request) {
			m.srv.BlackholeAll()
			time.AfterFunc(2*marketSession, m.srv.Heal)
		})
		m.srv.Inject(zktest.Rule{Op: zktest.OpSetData, Do: zktest.All(zktest.BlackholeReply(), outage)})
		a := m.sell(oslo, caps("a", 6))
		require.True(t, a.Sold)
		require.True(t, a.Found)
		require.Equal(t, 1, m.srv.CountRequests(zktest.OpSetData))
		m.requireBooks([]order{caps("a", 6)}, []answer{a})
	})
}

// A holder that ignores the end of its lease, like a paused process, is refused
// by the resource itself.
func TestResourceRefusesAnOldHolder(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		ctx := t.Context()
		old := m.newSeller("oslo").ledger
		lease, err := locks.NewInterProcessMutex(old.client, m.lockPath("cap")).Acquire(ctx)
		require.NoError(t, err)
		before, version, err := old.account(ctx, "cap")
		require.NoError(t, err)
		m.srv.Session(old.client.SessionID()).Expire()
		fromRome := m.sell(m.newSeller("rome"), caps("b", 6))
		late := sale{Order: "a", Article: "cap", Quantity: 6, Worker: "oslo", Token: lease.FencingToken()}

		err = old.record(ctx, before, version, late)
		require.ErrorIs(t, err, zk.ErrBadVersion, "with what it read while it held the lock")
		now, version, err := old.account(ctx, "cap")
		require.NoError(t, err)
		err = old.record(ctx, now, version, late)
		require.ErrorIs(t, err, errFenced, "with the present version")

		require.Greater(t, fromRome.Token, late.Token)
		m.requireBooks([]order{caps("b", 6)}, []answer{fromRome})
		require.ErrorIs(t, lease.Release(ctx), framework.ErrSessionLost)
	})
}

func TestUnsafeOversells(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		m.cfg.unsafe = true
		var wg sync.WaitGroup
		for i := range 3 {
			s := m.newSeller("oslo")
			wg.Go(func() {
				a, err := s.sellUnsafe(t.Context(), caps(fmt.Sprint(i), 10))
				assert.NoError(t, err)
				assert.True(t, a.Sold)
			})
		}
		wg.Wait()
		b, err := m.books(t.Context(), m.cfg.stock)
		require.NoError(t, err)
		a := b.audit(m.cfg, nil)
		require.Equal(t, 20, a.oversold())
	})
}
