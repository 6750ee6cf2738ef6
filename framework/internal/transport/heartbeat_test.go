package transport

import (
	"encoding/binary"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"

	"github.com/gocurator/curator/testing/zktest"
)

func TestStrictContactNeedsAMajority(t *testing.T) {
	// A follower that is cut off from its leader answers neither syncs nor any
	// request behind them. A leader that is cut off from its followers does not
	// answer transactions.
	for _, op := range []zktest.Op{zktest.OpSync, zktest.OpMulti} {
		withLibrary(t, true, func(t *testing.T, srv *zktest.Server, o *sessionOwner) {
			begin := time.Now()
			for range 60 { // contact is never older than half the timeout
				time.Sleep(time.Second)
				sent, timeout := o.link.LastContact()
				require.LessOrEqual(t, time.Since(sent), timeout/2)
			}
			srv.Inject(zktest.Rule{Optional: true, Op: op, Times: -1, Do: zktest.DelayRequest(time.Hour)})
			cut := time.Now()
			time.Sleep(5 * time.Second)
			sent, _ := o.link.LastContact()
			require.False(t, sent.After(cut), "%v after the cut", sent.Sub(cut))
			require.True(t, sent.After(begin))
		})
	}
}

// The time of the contact is when the transaction was sent. The server may have
// been slow to answer, but not slow to start counting.
func TestStrictContactIsTheSendingOfATransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout, slow = 8 * time.Second, 100 * time.Millisecond
		l := NewLink(Config{LeaderConfirmed: true})
		begin := time.Now()
		c, p := established(t, l, 0, timeout)
		c.SetReadDeadline(time.Time{}) // the handshake is over
		readInBackground(c)
		var sent []time.Duration
		for range 30 {
			frame := p.read()
			if binary.BigEndian.Uint32(frame[4:]) == proto.OpSync {
				p.write(answerFrame(xidOf(frame), 1, 0, "/"))
				continue
			}
			sent = append(sent, time.Since(begin))
			time.Sleep(slow)
			p.write(answerFrame(xidOf(frame), 2, 0, proto.OpCheck, false, 0, -1, true, -1))
			synctest.Wait()
			contact := contactAfter(l, begin)
			require.Contains(t, sent, contact)
			require.LessOrEqual(t, time.Since(begin)-contact, timeout/2+3*slow)
		}
	})
}

// A transaction that fails is committed like any other. A transaction of a
// session that is over confirms no contact.
func TestWhatAMajorityHasCommitted(t *testing.T) {
	failed := func(code int) []byte { return frame(-1, false, code, code, -1, true, -1)[proto.LengthSize:] }
	require.True(t, isCommitted(frame(proto.OpCheck, false, 0, -1, true, -1)[proto.LengthSize:]))
	require.True(t, isCommitted(failed(-102)), "no right to read")
	require.False(t, isCommitted(failed(-112)), "session expired")
	require.False(t, isCommitted(failed(-118)), "session moved")
	require.False(t, isCommitted(frame(proto.OpCheck)[proto.LengthSize:]))
	require.False(t, isCommitted(nil))
	require.False(t, isCommitted(frame(proto.OpCheck, false, -112, -1, true, -1)[proto.LengthSize:]), "an error and a result")
}

// A deposed leader resumes a session that it knows without asking any server.
func TestStrictContactIsNotConfirmedByResumingASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{LeaderConfirmed: true})
		begin := time.Now()
		old, p := established(t, l, 0, 9*time.Second) // new: a transaction
		require.Zero(t, contactAfter(l, begin))
		require.Equal(t, []int32{proto.OpSync}, p.readOps(1))
		old.Close()
		time.Sleep(time.Second)
		c, p := established(t, l, 7, 9*time.Second)
		readInBackground(c)
		p.answerNext()
		require.Zero(t, contactAfter(l, begin))
		multi := p.read()
		require.EqualValues(t, proto.OpMulti, binary.BigEndian.Uint32(multi[4:]))
		p.write(answerFrame(xidOf(multi), 2, 0, proto.OpCheck, false, 0, -1, true, -1))
		synctest.Wait()
		require.Equal(t, time.Second, contactAfter(l, begin), "the handshake")
	})
}

// The machine sleeps, and Config.Clock is corrected when the next beat begins. The sync
// of that beat is sent right after the transaction was answered, however much later
// the clock says that it was: the leader need not have asked for news in between.
func TestStrictContactWaitsForHalfATickAfterASleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slept atomic.Int64
		l := NewLink(Config{LeaderConfirmed: true, Clock: func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }})
		begin := time.Now()
		c, p := established(t, l, 0, 8*time.Second)
		c.SetReadDeadline(time.Time{}) // the handshake is over
		readInBackground(c)
		beat := func() {
			p.answerNext()
			multi := p.read()
			require.EqualValues(t, proto.OpMulti, binary.BigEndian.Uint32(multi[4:]))
			p.write(answerFrame(xidOf(multi), 2, 0, proto.OpCheck, false, 0, -1, true, -1))
			synctest.Wait()
		}
		time.Sleep(900 * time.Millisecond) // the first beat is slow
		beat()
		slept.Store(int64(5 * time.Second))
		time.Sleep(100 * time.Millisecond)
		beat()
		require.Zero(t, contactAfter(l, begin), "only the handshake is confirmed")
	})
}
