package transport

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/jute"
	"github.com/gocurator/curator/framework/internal/proto"
)

// path returns a payload that is a path.
func path(p string) func([]byte) []byte {
	return func(b []byte) []byte { return jute.AppendString(b, p) }
}

// zeros returns a payload of n bytes.
func zeros(n int) func([]byte) []byte {
	return func(b []byte) []byte { return append(b, make([]byte, n)...) }
}

// Send makes a request, and returns its call if it is sent at once.
func (l *Link) Send(
	op int32, payload func([]byte) []byte, then func(code int32, err error),
) (*Call, *Waiter, error) {
	call := &Call{Op: op, Payload: payload, Then: then}
	waiter, err := l.SendAll(call)
	if err != nil || waiter != nil {
		call = nil
	}
	return call, waiter, err
}

// send makes a small request.
func send(l *Link, p string) (*Call, error) {
	call, _, err := l.Send(proto.OpSync, path(p), nil)
	return call, err
}

// xidOf returns the xid of a frame that arrived.
func xidOf(frame []byte) int { return int(int32(binary.BigEndian.Uint32(frame))) }

// readInBackground reads as the library does, until the connection ends.
func readInBackground(c *Conn) {
	go func() {
		for {
			if _, err := c.readAll(); err != nil {
				return
			}
		}
	}()
}

func TestCallIsAnsweredPastTheLibrary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		c, p := established(t, l, 7, 9*time.Second)
		readInBackground(c)
		first, err := send(l, "/a")
		require.NoError(t, err)
		second, err := send(l, "/b")
		require.NoError(t, err)

		frame := p.read()
		require.GreaterOrEqual(t, xidOf(frame), firstOwnXid)
		p.write(answerFrame(xidOf(frame), 17, 0, "/a"))
		<-first.Done()
		p.write(answerFrame(xidOf(p.read()), 18, -101))
		<-second.Done()

		code, zxid, body, err := first.Answer()
		require.NoError(t, err)
		require.Zero(t, code)
		require.EqualValues(t, 17, zxid)
		require.Equal(t, "/a", jute.NewReader(body).String(), "the frame's memory has been used again since")
		code, _, _, err = second.Answer()
		require.NoError(t, err)
		require.EqualValues(t, -101, code)
	})
}

// The library gets the answers to its own requests, and no others.
func TestAnswersOfCallsAndOfTheLibraryAreNotMixed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		c, p := established(t, l, 7, 9*time.Second)
		c.Write(getFrame(1, "/a", false))
		call, err := send(l, "/a")
		require.NoError(t, err)
		c.Write(getFrame(2, "/a", false))
		go func() {
			for range 3 {
				p.write(answerFrame(xidOf(p.read()), 1, -101))
			}
		}()
		for want := range 2 {
			frame, err := c.readAll()
			require.NoError(t, err)
			require.Equal(t, want+1, xidOf(frame))
		}
		<-call.Done()
	})
}

func TestCallIsContact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		c, p := established(t, l, 7, 9*time.Second)
		readInBackground(c)
		time.Sleep(time.Second)
		sent := time.Now()
		call, err := send(l, "/a")
		require.NoError(t, err)
		time.Sleep(time.Second)
		p.write(answerFrame(xidOf(p.read()), 1, 0, "/a"))
		<-call.Done()
		contact, _ := l.LastContact()
		require.Equal(t, sent, contact)
	})
}

func TestCallIsLostWithItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		c, _ := established(t, l, 7, 9*time.Second)
		call, err := send(l, "/a")
		require.NoError(t, err)
		c.Close()
		<-call.Done()
		_, _, _, err = call.Answer()
		require.ErrorIs(t, err, ErrLost)

		_, err = send(l, "/a")
		require.ErrorIs(t, err, ErrNotSent)
	})
}

func TestCallNeedsASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		_, err := send(l, "/a")
		require.ErrorIs(t, err, ErrNotSent)
		dialed(t, l)
		_, err = send(l, "/a")
		require.ErrorIs(t, err, ErrNotSent)
	})
}

func TestCallThatIsTooLongIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{MaxRequest: 1000})
		_, p := established(t, l, 7, 9*time.Second)
		_, _, err := l.Send(proto.OpSync, zeros(1000), nil)
		require.ErrorIs(t, err, ErrTooLong)
		require.True(t, p.silent())
		_, err = send(l, "/a")
		require.NoError(t, err)
		require.Equal(t, []int32{proto.OpSync}, p.readOps(1))
	})
}

func TestTheFirstOfSeveralIsSentAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := func() *Call { return &Call{Op: proto.OpSync, Payload: zeros(1000)} }
		short := func() *Call { return &Call{Op: proto.OpSync, Payload: path("/a")} }
		l := NewLink(Config{MaxRequest: 1000})
		_, err := l.SendAll(short(), short())
		require.ErrorIs(t, err, ErrNotSent)
		_, p := established(t, l, 7, 9*time.Second)
		first, second := long(), short()
		_, err = l.SendAll(first, second)
		require.ErrorIs(t, err, ErrTooLong)
		require.False(t, first.IsSent() || second.IsSent())
		require.True(t, p.silent(), "never the second alone")

		first, second = short(), long()
		_, err = l.SendAll(first, second)
		require.NoError(t, err)
		require.True(t, first.IsSent())
		require.False(t, second.IsSent())
		require.Equal(t, []int32{proto.OpSync}, p.readOps(1))
		require.True(t, p.silent())
	})
}

// The library does not see the answers to calls. By itself it would let a
// server show the client a state that is older than one it has seen.
func TestServerIsToldTheNewestZxid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watches := []SetWatch{{Watch: Watch{"/a", Data}}}
		l := NewLink(Config{Watches: func(set func([]SetWatch, []*PersistentWatch)) { set(watches, nil) }})
		c, p := established(t, l, 7, 9*time.Second)
		readInBackground(c)
		p.read() // of the watches
		call, err := send(l, "/a")
		require.NoError(t, err)
		p.write(answerFrame(xidOf(p.read()), 4711, 0, "/a"))
		<-call.Done()
		c.Close()

		c, p = dialed(t, l)
		go c.Write(connectFrame(7))
		require.EqualValues(t, 4711, binary.BigEndian.Uint64(p.read()[connectRequestZxidOffset:]))
		go p.write(connectAnswer(9*time.Second, 7))
		_, err = c.readAll()
		require.NoError(t, err)
		require.EqualValues(t, 4711, binary.BigEndian.Uint64(p.read()[8:]))
	})
}

func TestThenIsCalledInOrderWithEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		l := NewLink(Config{Fired: func(ev Event) { order = append(order, ev.Path) }})
		c, p := established(t, l, 7, 9*time.Second)
		readInBackground(c)
		call, _, err := l.Send(proto.OpSync, path("/a"), func(code int32, err error) {
			require.NoError(t, err)
			require.EqualValues(t, -101, code)
			order = append(order, "answer")
		})
		require.NoError(t, err)
		p.write(answerFrame(-1, -1, 0, 3, 3, "/before"))
		p.write(answerFrame(xidOf(p.read()), 1, -101))
		p.write(answerFrame(-1, -1, 0, 3, 3, "/after"))
		<-call.Done()
		synctest.Wait()
		require.Equal(t, []string{"/before", "answer", "/after"}, order)
	})
}

func TestRetiredLinkAnswersNoCallAndTakesNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLink(Config{})
		c, p := established(t, l, 7, 9*time.Second)
		readInBackground(c)
		answered, err := send(l, "/a")
		require.NoError(t, err)
		p.write(answerFrame(xidOf(p.read()), 17, 0, "/a"))
		<-answered.Done()
		call, err := send(l, "/b")
		require.NoError(t, err)
		frame := p.read()

		require.EqualValues(t, 17, l.Retire())
		p.write(answerFrame(xidOf(frame), 18, 0, "/b"))
		synctest.Wait()
		require.EqualValues(t, 17, l.LastZxid())
		_, err = send(l, "/c")
		require.ErrorIs(t, err, ErrNotSent)
		l.Close()
		<-call.Done()
		_, _, _, err = call.Answer()
		require.ErrorIs(t, err, ErrLost)
	})
}

// A server that does not have the session is no sign of its life, and the connection
// to it is of no use. The answer may be that to an operation of a transaction.
func TestAnswerAboutTheSessionEndsTheConnection(t *testing.T) {
	failed := func(code int32) (parts []any) { // a multi of two operations
		return []any{proto.OpError, false, proto.CodeOK, proto.CodeOK, proto.OpError, false, code, code, proto.OpError, true, int32(-1)}
	}
	for name, answer := range map[string]struct {
		op   int32
		code int32
		body []any
		ends bool
	}{
		"expired":                  {proto.OpSync, proto.CodeSessionExpired, nil, true},
		"moved":                    {proto.OpSync, proto.CodeSessionMoved, nil, true},
		"moved, transaction":       {proto.OpMulti, proto.CodeOK, failed(proto.CodeSessionMoved), true},
		"no node":                  {proto.OpSync, proto.CodeNoNode, nil, false},
		"no node, transaction":     {proto.OpMulti, proto.CodeOK, failed(proto.CodeNoNode), false},
		"no operation":             {proto.OpMulti, proto.CodeOK, []any{proto.OpError, true, int32(-1)}, false},
		"answer that is malformed": {proto.OpMulti, proto.CodeOK, []any{proto.OpError}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := NewLink(Config{})
				c, p := established(t, l, 7, 9*time.Second)
				readInBackground(c)
				before, _ := l.LastContact()
				time.Sleep(time.Second)
				call, _, err := l.Send(answer.op, path("/"), nil)
				require.NoError(t, err)
				other, err := send(l, "/other")
				require.NoError(t, err)
				p.write(answerFrame(xidOf(p.read()), 17, int(answer.code), answer.body...))
				<-call.Done()
				code, _, _, err := call.Answer()
				require.NoError(t, err)
				require.Equal(t, answer.code, code)
				now, _ := l.LastContact()
				require.Equal(t, answer.ends, now.Equal(before))
				_, err = send(l, "/next")
				if answer.ends {
					require.ErrorIs(t, err, ErrNotSent)
					<-other.Done()
					return
				}
				require.NoError(t, err)
			})
		})
	}
}
