package nodes

import (
	"bytes"
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/reason"
)

// attempt is a request of ours that creates the node or writes to it. If it was
// carried out, the node has the data and the version.
type attempt struct {
	wish    payload
	version int32
	after   int64 // the newest transaction that the client knew when it sent the request
}

// lateCreate is a request that creates an ephemeral node, and whose reply was lost
// with its session. A server that has stalled with the request may still carry it
// out, as long as the servers keep that session. The zero lateCreate is none.
type lateCreate struct {
	session *framework.Session
	until   time.Time // when the servers have ended the session, unless they had no leader
}

// noteLate notes that the reply to a create was lost, if the error says so.
func (k *keeper) noteLate(err error) {
	if !k.cfg.ephemeral() || !reason.Is(err, framework.ErrOutcomeUnknown) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.late = lateCreate{k.session, time.Now().Add(3 * k.session.Timeout())}
}

// forgetLate notes that no server carries a request of this session out any more.
func (k *keeper) forgetLate() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.late.session == k.session {
		k.late = lateCreate{}
	}
}

// mayCome returns an error if a server may still create the node.
func (l lateCreate) mayCome(ctx context.Context) error {
	if l.session == nil || l.session.Context().Err() == nil || time.Now().After(l.until) {
		return nil
	}
	return l.session.AwaitEnd(ctx)
}

// hearNews makes sure that the client knows of what others have done while it
// had no connection: their nodes are not of the attempt that comes next. A
// client that has never had an answer is not made to wait for one.
func (k *keeper) hearNews(ctx context.Context) error {
	if k.isToldByOwner() || k.client.LastZxid() == 0 || insider.Of(k.client).HasNews() {
		return nil
	}
	return k.client.SyncQuorum(ctx)
}

// isToldByOwner reports whether something but the path and the data says that a
// node is ours.
func (k *keeper) isToldByOwner() bool {
	return k.cfg.ephemeral() || k.cfg.unique() || k.settledOnce
}

func (k *keeper) attempt(wish payload, version int32) attempt {
	k.sent = insider.Of(k.client).Clock()
	return attempt{wish, version, k.client.LastZxid()}
}

// made reports whether a node may be as the request has left it. Nobody's node
// that was there before is.
func (a attempt) made(data []byte, stat *zk.Stat) bool {
	return stat.Mzxid > a.after && stat.Version == a.version && bytes.Equal(data, a.wish.data)
}

// doubtful notes that nobody knows whether a request was carried out.
func (k *keeper) doubtful(a attempt) {
	k.unanswered = append(k.unanswered, a)
	k.unanswered = k.unanswered[max(0, len(k.unanswered)-maxEarlier):]
}

// findOurs returns the node at the path if it is ours, or nil. What is not
// ephemeral belongs to nobody. It is ours if we have made it or written to it,
// and may be ours if it is what a request without an answer would have left.
func (k *keeper) findOurs(ctx context.Context) (*zk.Stat, error) {
	if !k.isToldByOwner() {
		return k.findUnanswered(ctx)
	}
	there, stat, err := k.client.Exists(ctx, k.node)
	if err != nil {
		return nil, err
	}
	if whose := k.judge(there, stat); whose == missing || whose == foreign {
		return nil, nil
	}
	if k.needsClaim(stat) {
		return k.findUnanswered(ctx)
	}
	return stat, nil
}

// needsClaim reports whether the data have to say whose a node is, because we
// have not made it, nor written to it.
func (k *keeper) needsClaim(stat *zk.Stat) bool {
	return k.cfg.claim != nil && !k.cfg.ephemeral() && stat.Czxid != k.czxid
}

// isClaimed reports whether a node may be taken over that needs a claim. One
// that may not be read may not be, nor one that is gone by now.
func (k *keeper) isClaimed(ctx context.Context, found *zk.Stat) (bool, error) {
	data, stat, err := k.client.Get(ctx, k.node)
	switch {
	case reason.Is(err, zk.ErrNoNode), reason.Is(err, zk.ErrNoAuth):
		return false, nil
	case err != nil:
		return false, err
	}
	for _, a := range k.unanswered {
		if a.made(data, stat) {
			return true, nil
		}
	}
	return stat.Czxid == found.Czxid && k.cfg.claim(data, k.said()), nil
}

func (k *keeper) findUnanswered(ctx context.Context) (*zk.Stat, error) {
	data, stat, err := k.client.Get(ctx, k.node)
	if reason.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, a := range k.unanswered {
		if a.made(data, stat) {
			return stat, nil
		}
	}
	return nil, nil
}

// failed decides about a request that has failed. If its data was refused, and
// there is other data, the node gets that.
func (k *keeper) failed(ctx context.Context, a attempt, err error) error {
	if reason.Is(err, framework.ErrOutcomeUnknown) {
		k.doubtful(a)
	}
	if !framework.IsRefusal(err) {
		k.doubt, k.clean = true, false
		if reason.Is(err, &framework.HangUpError{}) {
			return k.restFrom(ctx, a.wish, err)
		}
		return err
	}
	if k.refuse(a.wish, err) {
		return nil
	}
	return err
}

// hangUpPause is how long a node rests whose data makes servers hang up. Each request
// with that data interrupts all others of the client.
const hangUpPause = 5 * time.Minute

// restFrom waits before the next request with data on which servers have hung up. It
// returns early if the node is to have shorter data.
func (k *keeper) restFrom(ctx context.Context, long payload, err error) error {
	k.keeping.Note(err)
	rest := time.NewTimer(hangUpPause)
	defer rest.Stop()
	for len(k.wanted().data) >= len(long.data) {
		select {
		case <-k.wake:
		case <-rest.C:
			return nil
		case <-ctx.Done():
			return reason.OfContext(ctx)
		}
	}
	return nil
}
