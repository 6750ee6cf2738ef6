package framework_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/testing/zktest"
)

// Every write tells its caller the truth: success means that it was carried
// out, an error that it was not, unless the error says that the outcome is
// unknown. These tests break each write at each of its requests in every way,
// and compare with the server.

// effects say, for each write of everyOperation, whether it was carried out on
// /n.
var effects = map[string]func(srv *zktest.Server) bool{
	"create":                     hasNew,
	"create ephemeral":           hasNew,
	"create container":           hasNew,
	"create parents":             hasNew,
	"create persistent parents":  hasNew,
	"create protected":           func(srv *zktest.Server) bool { return len(srv.Children("/n")) > 0 },
	"create or set":              hasNew,
	"create or set version":      hasNew,
	"create idempotent":          hasNew,
	"set":                        func(srv *zktest.Server) bool { return versions(srv).Version > 0 },
	"set version":                func(srv *zktest.Server) bool { return versions(srv).Version > 0 },
	"setACL":                     func(srv *zktest.Server) bool { return versions(srv).Aversion > 0 },
	"setACL version":             func(srv *zktest.Server) bool { return versions(srv).Aversion > 0 },
	"delete":                     isGone,
	"delete version":             isGone,
	"delete guaranteed":          isGone,
	"delete begun guaranteed":    isGone,
	"delete children":            isGone,
	"delete children guaranteed": isGone,
	"transaction":                hasNew,
	"transaction version":        hasNew,
	"transaction repeated":       func(srv *zktest.Server) bool { return versions(srv).Version > 0 },
}

func hasNew(srv *zktest.Server) bool { _, ok := srv.Node("/n/new"); return ok }
func isGone(srv *zktest.Server) bool { _, ok := srv.Node("/n"); return !ok }

func versions(srv *zktest.Server) zktest.Stat {
	node, _ := srv.Node("/n")
	return node.Stat
}

// breakages are what happens to the session when a request is disturbed.
var breakages = map[string]func(srv *zktest.Server, session int64, fault zktest.Action) zktest.Action{
	"same session": func(_ *zktest.Server, _ int64, fault zktest.Action) zktest.Action { return fault },
	"session replaced": func(srv *zktest.Server, session int64, fault zktest.Action) zktest.Action {
		return zktest.All(zktest.Call(func(zktest.Request) { zkinside.Of(srv).ReplaceSession(session) }), fault)
	},
	"session expired": func(srv *zktest.Server, session int64, fault zktest.Action) zktest.Action {
		return zktest.All(fault, zktest.CallAfter(func(zktest.Request) { srv.Session(session).Expire() }))
	},
}

// The table of ErrOutcomeUnknown: after a lost reply these writes are made again,
// and all others are of unknown outcome, with one request.
var repeated = map[string]bool{
	"set": true, "setACL": true, "delete": true, "delete guaranteed": true, "delete begun guaranteed": true,
	"delete children": true, "delete children guaranteed": true,
	"create or set": true, "create idempotent": true, "create protected": true,
	"transaction repeated": true,
}

func TestWhatIsMadeAgainAfterALostReply(t *testing.T) {
	for op := range effects {
		for _, fault := range []zktest.Action{zktest.DropRequest(), zktest.DropReply()} {
			for breakage, with := range breakages {
				bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
					mustCreate(t, c, "/n", "")
					srv.ClearRequests()
					srv.Inject(zktest.Rule{Do: with(srv, c.SessionID(), fault)})
					err := everyOperation(c)[op](t.Context(), "/n")
					if repeated[op] {
						require.NoError(t, err, "%s, %s", op, breakage)
						return
					}
					require.ErrorIs(t, err, framework.ErrOutcomeUnknown, "%s, %s", op, breakage)
					require.True(t, framework.IsConnectionError(err), "%s, %s: %v", op, breakage, err)
					time.Sleep(time.Minute)
					require.Equal(t, 1, srv.CountRequests(zktest.OpAny), "%s, %s", op, breakage)
				})
			}
		}
	}
}

// Promise: A write that returns nil was applied, and a write whose error does not match ErrOutcomeUnknown was not.
func TestNoWriteLiesAboutItsOutcomeWhateverIsLost(t *testing.T) {
	t.Parallel()
	faults := map[string]zktest.Action{
		"request lost": zktest.DropRequest(), "reply lost": zktest.DropReply(),
		"request muted": zktest.Blackhole(), "reply muted": zktest.BlackholeReply(),
	}
	for name, fault := range faults {
		for breakage, with := range breakages {
			for op, applied := range effects {
				if !thorough.Picked(4, name, breakage, op) {
					continue
				}
				for n, hit := 0, true; hit; n++ {
					bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
						mustCreate(t, c, "/n", "")
						inj := srv.Inject(zktest.Rule{Optional: true, After: n, Do: with(srv, c.SessionID(), fault)})
						err := everyOperation(c)[op](t.Context(), "/n")
						hit = inj.Hits() > 0
						inj.Remove()
						checkClaim(t, srv, err, applied, "%s, %s, %s, request %d: %v", op, name, breakage, n, err)
					})
				}
			}
		}
	}
}

func TestNoWriteLiesAboutItsOutcomeWheneverItIsCancelled(t *testing.T) {
	for op, applied := range effects {
		for _, lost := range []bool{false, true} { // the first reply, so that the operation has to find out
			for n, hit := 0, true; hit; n++ {
				bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
					mustCreate(t, c, "/n", "")
					if lost {
						srv.Inject(zktest.Rule{Do: zktest.DropReply()})
					}
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					inj := srv.Inject(zktest.Rule{Optional: true, After: n, Do: zktest.All(zktest.DelayReply(time.Second),
						zktest.CallAfter(func(zktest.Request) { cancel() }))})
					err := everyOperation(c)[op](ctx, "/n")
					hit = inj.Hits() > 0
					inj.Remove()
					if errors.Is(err, context.Canceled) && op == "create protected" || op == "delete guaranteed" || op == "delete children guaranteed" {
						return // cleaned up, or finished, in the background, as other tests check
					}
					checkClaim(t, srv, err, applied, "%s, request %d: %v", op, n, err)
				})
			}
		}
	}
}

// checkClaim waits until nothing more can happen, and compares.
func checkClaim(t *testing.T, srv *zktest.Server, err error, applied func(*zktest.Server) bool, msg ...any) {
	t.Helper()
	if err == nil { // at once: it was so when the call returned
		require.True(t, applied(srv), msg...)
	}
	time.Sleep(time.Minute)
	if err != nil && !errors.Is(err, framework.ErrOutcomeUnknown) {
		require.False(t, applied(srv), msg...)
	}
	if op, _ := msg[1].(string); strings.HasSuffix(op, " version") {
		require.LessOrEqual(t, max(versions(srv).Version, versions(srv).Aversion), int32(1), msg...)
	}
}

// A server that says it has done nothing is asked again, by every operation.
func TestOperationIsRepeatedWhenTheServerIsTooBusy(t *testing.T) {
	for op := range everyOperation(nil) {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			mustCreate(t, c, "/n", "")
			inj := srv.Inject(zktest.Rule{Times: 2, Do: zktest.Fail(-127)})
			require.NoError(t, everyOperation(c)[op](t.Context(), "/n"), op)
			require.Equal(t, 2, inj.Hits())
			if applied := effects[op]; applied != nil {
				require.True(t, applied(srv), op)
			}
		})
	}
}

// A server that has failed at something may have done it, and is not asked
// again.
func TestWriteAtWhichTheServerHasFailedIsOfUnknownOutcome(t *testing.T) {
	for op := range everyOperation(nil) {
		for _, code := range []zktest.Code{-1, -5, -12345} {
			bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
				mustCreate(t, c, "/n", "")
				inj := srv.Inject(zktest.Rule{Times: -1, Do: zktest.Fail(code)})
				err := everyOperation(c)[op](t.Context(), "/n")
				require.ErrorIs(t, err, &framework.ServerError{Code: int32(code)}, op)
				require.Equal(t, effects[op] != nil, errors.Is(err, framework.ErrOutcomeUnknown), "%s: %v", op, err)
				require.False(t, framework.IsConnectionError(err))
				inj.Remove()
			})
		}
	}
}

// The outcome of a request is unknown if the client did not wait for the
// answer.
func TestWriteUnderWayAtCloseIsOfUnknownOutcome(t *testing.T) {
	for op := range everyOperation(nil) {
		bubble(t, func(t *testing.T, srv *zktest.Server, c *framework.Client) {
			mustCreate(t, c, "/n", "")
			srv.Inject(zktest.Rule{Do: zktest.All(zktest.DelayReply(time.Minute), zktest.CallAfter(func(zktest.Request) { go c.Close() }))})
			err := everyOperation(c)[op](t.Context(), "/n")
			require.ErrorIs(t, err, framework.ErrClosed, op)
			require.Equal(t, effects[op] != nil, errors.Is(err, framework.ErrOutcomeUnknown), "%s: %v", op, err)
		})
	}
}
