package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/curatortest"
	"github.com/gocurator/curator/testing/zktest"
)

// The workers are goroutines, each on its own host. A worker that is killed is cut off.
func TestStory(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	const waited = `(?s)\nWorker \w+ was killed .*\nThe longest wait was 2s; the session timeout is 2s\..*\nbooks balance`
	varying := regexp.MustCompile(`(?m)^ *(Flash sale in|order-).*\n`)
	for name, tt := range map[string]struct {
		shop           shop
		answers, books string
	}{
		"safe":         {shop{}, `SOLD .*\n(.* refused, 0 left .*\n){3}`, "books balance"},
		"unsafe":       {shop{unsafe: true}, `(.* SOLD .*\n){4}`, "OVERSOLD by 300"},
		"before-write": {shop{crash: beforeWrite}, `SOLD .*\n(.* refused, 0 left .*\n){2}.*2\) .* refused`, waited},
		"after-write":  {shop{crash: afterWrite}, `2\) .*SOLD, as found.*\n(.* refused, 0 left .*\n){3}`, waited},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := zktest.Start(t)
				tt.shop.start = func(ctx context.Context, name, servers string) error {
					host := srv.NewHost()
					die := func() error {
						host.Isolate()
						return errors.New("killed")
					}
					return tt.shop.work(ctx, name, servers, die, framework.WithDialer(host.Dialer()))
				}
				var out strings.Builder
				require.NoError(t, tt.shop.run(t.Context(), srv, &out))
				require.Regexp(t, tt.answers, out.String())
				require.Regexp(t, tt.books+"\n$", out.String())
				if name == "safe" {
					shown := varying.ReplaceAllString(strings.ReplaceAll(string(readme), "\n    ", "\n"), "")
					require.Contains(t, shown, varying.ReplaceAllString(out.String(), ""))
				}
			})
		})
	}
}

// The books are correct, and then wrong in one way at a time.
func TestAuditFindsEveryFault(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil    func(*books)
		problem  string
		oversold int
	}{
		"nothing":         {func(*books) {}, "map[]", 0},
		"units vanished":  {func(b *books) { b.account.Remaining = 0 }, balance, -10},
		"a lost update":   {func(b *books) { b.account.Remaining = 50 }, balance, 40},
		"below zero":      {func(b *books) { b.account.Remaining, b.answers[0].Quantity = -1, 51 }, balance, 0},
		"a lost sale":     {func(b *books) { b.account.Sales = b.account.Sales[1:] }, receipts, 0},
		"a sale twice":    {func(b *books) { b.account.Sales = append(b.account.Sales, sale{"b", 50, 7}) }, fills, 0},
		"another size":    {func(b *books) { b.account.Sales[0].Quantity = 30 }, fills, 0},
		"no receipt":      {func(b *books) { b.answers[0].Sold = false }, receipts, -40},
		"tokens fall":     {func(b *books) { slices.Reverse(b.account.Sales) }, tokens, 0},
		"refused is sold": {func(b *books) { b.answers[2].Sold = true }, receipts, 60},
		"refused":         {func(b *books) { b.account.Remaining, b.answers[0].Quantity = 60, -10 }, answers, 0},
	} {
		b := books{account{10, 5, []sale{{"a", 40, 3}, {"b", 50, 5}}}, []answer{
			{order: order{"a", 40, ""}, Sold: true}, {order: order{"b", 50, ""}, Sold: true}, {order: order{"c", 60, ""}},
		}}
		tt.spoil(&b)
		a := b.audit()
		require.Contains(t, fmt.Sprint(a.problems), tt.problem, name)
		require.Equal(t, tt.oversold, a.oversold, name)
	}
}

var a, b = order{ID: "a", Quantity: 60}, order{ID: "b", Quantity: 60}

// start returns two sellers of one stock.
func start(t *testing.T) (srv *zktest.Server, oslo, rome seller) {
	srv = zktest.Start(t)
	for _, s := range []*seller{&oslo, &rome} {
		client := curatortest.Connect(t, srv, framework.WithSessionTimeout(sessionTimeout))
		*s = seller{ledger: ledger{client}, reached: func(context.Context, moment) error { return nil }}
	}
	require.NoError(t, oslo.ledger.create(t.Context(), accountPath, account{Remaining: initialStock}))
	return srv, oslo, rome
}

func (s seller) mustSell(t *testing.T, o order) answer {
	answer, err := s.sell(t.Context(), o)
	require.NoError(t, err)
	return answer
}

// A holder whose session expires before its write does not write, and finds the units sold.
func TestLostLeaseWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, oslo, rome := start(t)
		oslo.reached = func(lease context.Context, _ moment) error {
			srv.Session(oslo.ledger.client.SessionID()).Expire()
			<-lease.Done()
			require.True(t, rome.mustSell(t, b).Sold)
			return nil
		}
		require.False(t, oslo.mustSell(t, a).Sold)
		require.Equal(t, 1, srv.CountRequests(zktest.OpSetData))
	})
}

// The server applies a write, but the reply and the session are lost. The ledger has the outcome.
func TestUnknownOutcomeIsLookedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, oslo, rome := start(t)
		outage := zktest.CallAfter(func(zktest.Request) {
			srv.BlackholeAll()
			time.AfterFunc(2*sessionTimeout, srv.Heal)
		})
		srv.Inject(zktest.Rule{Op: zktest.OpSetData, Do: zktest.All(zktest.BlackholeReply(), outage)})
		require.True(t, oslo.mustSell(t, a).Found)
		require.True(t, rome.mustSell(t, a).Found, "an order that has an answer")
		require.Equal(t, 1, srv.CountRequests(zktest.OpSetData))
	})
}

// The ledger itself refuses a holder that ignores the end of its lease, as a paused process does.
func TestResourceRefusesAnOldHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, oslo, rome := start(t)
		ctx, old := t.Context(), oslo.ledger
		lease, err := locks.NewInterProcessMutex(old.client, lockPath).Acquire(ctx)
		require.NoError(t, err)
		late := sale{"a", 60, lease.FencingToken()}
		var before, now account
		version, err := old.read(ctx, accountPath, &before)
		require.NoError(t, err)
		srv.Session(old.client.SessionID()).Expire()
		<-lease.Context().Done()
		rome.mustSell(t, b)

		require.ErrorIs(t, old.record(ctx, before, version, late), zk.ErrBadVersion)
		version, err = old.read(ctx, accountPath, &now)
		require.NoError(t, err)
		require.ErrorIs(t, old.record(ctx, now, version, late), fence.ErrStale)
	})
}
