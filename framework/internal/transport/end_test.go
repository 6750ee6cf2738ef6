package transport

import (
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/jute"
)

// ends is what the owner of a link is told of connections that end: the paths
// of the requests, for each connection.
type ends struct{ paths [][]string }

func (e *ends) ended(all []Unanswered) {
	var paths []string
	for _, r := range all {
		paths = append(paths, jute.NewReader(r.Payload(nil)).String())
	}
	e.paths = append(e.paths, paths)
}

func TestEndOfAConnectionNamesWhatWasUnderWay(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(l *Link, c *Conn, p *peer)
		want [][]string
	}{
		"the peer hangs up": {func(_ *Link, _ *Conn, p *peer) { p.nc.Close() }, [][]string{{"/b", "/c"}}},
		"the peer is silent": {func(_ *Link, c *Conn, _ *peer) {
			c.SetReadDeadline(time.Now().Add(time.Second))
		}, nil},
		"an answer takes too long": {func(_ *Link, c *Conn, p *peer) {
			answer := answerFrame(firstOwnXid+2, 1, 0, string(make([]byte, 1000)))
			p.write(answer[:500])
			c.SetReadDeadline(time.Now().Add(time.Second))
		}, [][]string{{"/c"}}},
		"the peer speaks nonsense": {func(_ *Link, _ *Conn, p *peer) { p.write(frame(1)) }, [][]string{{"/b", "/c"}}},
		"we close it":              {func(_ *Link, c *Conn, _ *peer) { c.Close() }, nil},
		"the session is over":      {func(l *Link, _ *Conn, _ *peer) { l.Close() }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told ends
				l := NewLink(Config{Ended: told.ended})
				c, p := established(t, l, 7, 9*time.Second)
				readInBackground(c)
				for _, path := range []string{"/a", "/b", "/c"} {
					_, err := send(l, path)
					require.NoError(t, err)
				}
				p.write(answerFrame(xidOf(p.read()), 1, 0, "/a"))
				synctest.Wait()
				tc.end(l, c, p)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				require.Equal(t, tc.want, told.paths)
			})
		})
	}
}

// A peer may reset the connection before it has read all of a long request.
func TestEndOfAConnectionDuringAWriteNamesTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told ends
		l := NewLink(Config{Ended: told.ended})
		c := stalledPeer(t, l)
		_, err := send(l, "/long")
		require.NoError(t, err)
		synctest.Wait()
		c.Conn.Close() // nobody reads: the write fails
		synctest.Wait()
		require.Equal(t, [][]string{{"/long"}}, told.paths)
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
		for left := maxFrame + 1<<20 - replyHeaderSize; left > 0; left -= len(rest) {
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

// The library's read and our write may fail at the same moment.
func TestEndOfAConnectionIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int32
		goOn := make(chan struct{})
		release := sync.OnceFunc(func() { close(goOn) })
		defer release()
		l := NewLink(Config{Ended: func([]Unanswered) {
			told.Add(1)
			<-goOn
		}})
		c := stalledPeer(t, l)
		readInBackground(c)
		call, _, err := l.Send(opSync, path("/long"), nil)
		require.NoError(t, err)
		synctest.Wait()
		c.Conn.Close()
		synctest.Wait()
		require.EqualValues(t, 1, told.Load())
		select {
		case <-call.Done():
			t.Error("its caller knows before the owner of the link does")
		default:
		}
		release()
		<-call.Done()
		synctest.Wait()
		require.EqualValues(t, 1, told.Load())
	})
}

// slowToClose is a connection whose Close returns some time after its readers
// have found it closed.
type slowToClose struct {
	net.Conn
	goOn <-chan struct{}
}

func (c slowToClose) Close() error {
	err := c.Conn.Close()
	<-c.goOn
	return err
}

// The peer has no part in it, also if the library's read fails before Close has
// returned.
func TestConnectionThatWeCloseHasNotEndedWithARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told ends
		l := NewLink(Config{Ended: told.ended})
		c := stalledPeer(t, l)
		readInBackground(c)
		_, err := send(l, "/n")
		require.NoError(t, err)
		synctest.Wait()
		goOn := make(chan struct{})
		c.Conn = slowToClose{c.Conn, goOn}
		go c.Close()
		synctest.Wait()
		close(goOn)
		synctest.Wait()
		require.Empty(t, told.paths)
	})
}
