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
	ledger
}

const marketSession = 9 * time.Second

// inMarket runs a test in virtual time with a stock of 100 units.
func inMarket(t *testing.T, test func(t *testing.T, m *market)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &market{t: t, srv: zktest.Start(t)}
		m.ledger = ledger{m.connect(), "/flashsale/test"}
		require.NoError(t, m.open(t.Context(), config{}, initialStock))
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
		ledger: ledger{m.connect(), m.root}, process: name, think: time.Millisecond,
		reached: func(context.Context, moment) {},
	}
}

func units(id string, n int) order { return order{ID: id, Quantity: n} }

func (m *market) sell(s *seller, o order) answer {
	m.t.Helper()
	a, err := s.sell(m.t.Context(), o)
	require.NoError(m.t, err)
	return a
}

func (m *market) requireBooks(orders ...order) {
	m.t.Helper()
	b, err := m.books(m.t.Context(), orders)
	require.NoError(m.t, err)
	for _, c := range b.audit(orders, false).checks {
		require.Empty(m.t, c.problems, c.rule)
	}
}

func TestSellUntilEmpty(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		s := m.newSeller("oslo")
		orders := []order{units("a", 60), units("b", 50), units("c", 40), units("d", 10)}
		var answers []answer
		for _, o := range orders {
			answers = append(answers, m.sell(s, o))
		}
		require.True(t, answers[0].Sold)
		require.False(t, answers[1].Sold)
		require.Equal(t, 40, answers[1].Left)
		require.True(t, answers[2].Sold, "a smaller order may still fit")
		require.False(t, answers[3].Sold)
		m.requireBooks(orders...)
	})
}

func TestSellingAgainChangesNothing(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		first := m.sell(m.newSeller("oslo"), units("a", 60))
		m.srv.ClearRequests()
		again := m.sell(m.newSeller("rome"), units("a", 60))
		require.True(t, again.Found)
		require.Equal(t, first.Token, again.Token)
		require.Zero(t, m.srv.CountRequests(zktest.OpSetData))
		m.requireBooks(units("a", 60))
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
				fromRome = m.sell(rome, units("b", 60))
			})
		}
		fromOslo := m.sell(oslo, units("a", 60))
		require.True(t, fromRome.Sold)
		require.False(t, fromOslo.Sold)
		require.Equal(t, 1, m.srv.CountRequests(zktest.OpSetData))
		m.requireBooks(units("a", 60), units("b", 60))
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
		a := m.sell(oslo, units("a", 60))
		require.True(t, a.Sold)
		require.True(t, a.Found)
		require.Equal(t, 1, m.srv.CountRequests(zktest.OpSetData))
		m.requireBooks(units("a", 60))
	})
}

// A holder that ignores the end of its lease, like a paused process, is refused
// by the resource itself.
func TestResourceRefusesAnOldHolder(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		ctx := t.Context()
		old := m.newSeller("oslo").ledger
		lease, err := locks.NewInterProcessMutex(old.client, m.lockPath()).Acquire(ctx)
		require.NoError(t, err)
		before, version, err := old.account(ctx)
		require.NoError(t, err)
		m.srv.Session(old.client.SessionID()).Expire()
		fromRome := m.sell(m.newSeller("rome"), units("b", 60))
		late := sale{"a", 60, lease.FencingToken()}

		err = old.record(ctx, before, version, late)
		require.ErrorIs(t, err, zk.ErrBadVersion, "with what it read while it held the lock")
		now, version, err := old.account(ctx)
		require.NoError(t, err)
		err = old.record(ctx, now, version, late)
		require.ErrorIs(t, err, errFenced, "with the present version")

		require.Greater(t, fromRome.Token, late.Token)
		m.requireBooks(units("b", 60))
		require.ErrorIs(t, lease.Release(ctx), framework.ErrSessionLost)
	})
}

func TestUnsafeOversells(t *testing.T) {
	inMarket(t, func(t *testing.T, m *market) {
		var wg sync.WaitGroup
		for i := range 3 {
			s := m.newSeller("oslo")
			wg.Go(func() {
				a, err := s.sellUnsafe(t.Context(), units(fmt.Sprint(i), 100))
				assert.NoError(t, err)
				assert.True(t, a.Sold)
			})
		}
		wg.Wait()
		b, err := m.books(t.Context(), []order{units("0", 100), units("1", 100), units("2", 100)})
		require.NoError(t, err)
		require.Equal(t, 200, b.audit(nil, true).oversold())
	})
}
