package transport

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
)

// A request with which the peer has ended the connection is told from one that is
// lost for another reason.
func TestEndOfAConnectionNamesWhatWasUnderWay(t *testing.T) {
	for name, tc := range map[string]struct {
		end    func(l *Link, c *Conn, p *peer)
		hungUp bool
	}{
		"the peer hangs up": {func(_ *Link, _ *Conn, p *peer) { p.nc.Close() }, true},
		"the peer is silent": {func(_ *Link, c *Conn, _ *peer) {
			c.SetReadDeadline(time.Now().Add(time.Second))
		}, false},
		"the peer speaks nonsense": {func(_ *Link, _ *Conn, p *peer) { p.write(frame(1)) }, true},
		"we close it":              {func(_ *Link, c *Conn, _ *peer) { c.Close() }, false},
		"the session is over":      {func(l *Link, _ *Conn, _ *peer) { l.Close() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := NewLink(Config{})
				c, p := established(t, l, 7, 9*time.Second)
				since := time.Now()
				readInBackground(c)
				time.Sleep(time.Second)
				var calls []*Call
				for _, path := range []string{"/a", "/b", "/c"} {
					call, err := send(l, path)
					require.NoError(t, err)
					calls = append(calls, call)
				}
				p.write(answerFrame(xidOf(p.read()), 1, 0, "/a"))
				synctest.Wait()
				require.Equal(t, 1, l.Answers())
				tc.end(l, c, p)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				for i, call := range calls {
					<-call.Done()
					hangUp, ok := call.HungUp()
					require.Equal(t, tc.hungUp && i > 0, ok)
					require.Equal(t, time.Second, hangUp.Held)
					require.Equal(t, since, hangUp.Established)
					require.Equal(t, len(call.Payload(nil))+8, hangUp.Size)
				}
			})
		})
	}
}

// A peer may reset the connection before it has read all of a long request.
func TestEndOfAConnectionDuringAWriteNamesTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		c := stalledPeer(t, l)
		call, err := send(l, "/long")
		require.NoError(t, err)
		synctest.Wait()
		c.Conn.Close() // nobody reads: the write fails
		<-call.Done()
		_, ok := call.HungUp()
		require.True(t, ok)
	})
}

// The connection goes on: the same request would have the same answer on the
// next one.
func TestAnswerThatIsTooLongIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		c, p := established(t, l, 7, 9*time.Second)
		readInBackground(c)
		long, err := send(l, "/long")
		require.NoError(t, err)
		next, err := send(l, "/next")
		require.NoError(t, err)
		answer := answerFrame(xidOf(p.read()), 1, 0)
		binary.BigEndian.PutUint32(answer, maxFrame+1<<20)
		p.write(answer)
		rest := make([]byte, 1<<20)
		for left := maxFrame + 1<<20 - proto.ReplyHeaderSize; left > 0; left -= len(rest) {
			rest = rest[:min(left, len(rest))]
			p.write(rest)
		}
		p.write(answerFrame(xidOf(p.read()), 1, 0, "/next"))
		<-long.Done()
		_, _, body, err := long.Answer()
		require.ErrorIs(t, err, ErrAnswerTooLong)
		require.Empty(t, body)
		<-next.Done()
		_, _, _, err = next.Answer()
		require.NoError(t, err)
	})
}
