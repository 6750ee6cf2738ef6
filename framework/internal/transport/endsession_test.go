package transport

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
)

// endAgainst ends session 7 at a server that reads as much as it can. The
// server answers the first request with first, and every other with then.
func endAgainst(t *testing.T, first, then []byte) error {
	t.Helper()
	ours, theirs := net.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		defer theirs.Close()
		for answer := first; answer != nil; answer = then {
			var length [proto.LengthSize]byte
			if _, err := io.ReadFull(theirs, length[:]); err != nil {
				return
			}
			io.CopyN(io.Discard, theirs, int64(frameLength(length[:])))
			theirs.Write(answer)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := EndSession(ctx, ours, EndSessionOptions{
		Identity:  Identity{ID: 7, Password: make([]byte, 16), Timeout: time.Second},
		IOTimeout: time.Minute,
	})
	<-served
	_, closed := ours.Write([]byte{0})
	require.ErrorIs(t, closed, io.ErrClosedPipe)
	return err
}

func TestEndSession(t *testing.T) {
	password := string(make([]byte, 16))
	granted := frame(0, 9000, int64(7), password)
	another := frame(0, 9000, int64(8), password)
	expired := frame(0, 0, int64(0), password)
	noTimeout := frame(0, 0, int64(7), password)
	ended := answerFrame(firstOwnXid, 1, 0)
	refused := answerFrame(firstOwnXid, 1, -118)
	tooLong := answerFrame(firstOwnXid, 1, 0, string(make([]byte, maxHandshakeFrame)))
	event := answerFrame(proto.XidNotification, 1, 0, 1, 3, "/n")
	for name, tc := range map[string]struct {
		first, then []byte
		over        bool
	}{
		"it is ended":                       {granted, ended, true},
		"another session is ended, too":     {another, ended, true},
		"it is over already":                {expired, nil, true},
		"something comes before the answer": {granted, append(event, ended...), true},
		"the server refuses to end it":      {granted, refused, false},
		"the server hangs up":               {[]byte{}, nil, false},
		"the server hangs up later":         {granted, nil, false},
		"half an answer":                    {granted[:20], nil, false},
		"a frame of two gigabytes":          {[]byte{0x7f, 0xff, 0xff, 0xff}, nil, false},
		"a frame of minus one":              {[]byte{0xff, 0xff, 0xff, 0xff}, nil, false},
		"a frame that is too short":         {frame(0), nil, false},
		"a reply that is too short":         {granted, frame(firstOwnXid), false},
		"a session without a timeout":       {noTimeout, nil, false},
		"a reply that is too long":          {granted, tooLong, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := endAgainst(t, tc.first, tc.then)
			require.Equal(t, tc.over, err == nil, "%v", err)
		})
	}
}

// The server has granted another session, so the nodes of this one are gone. What
// is at their paths is somebody else's.
//
// Promise: Close deletes nothing if the server granted a different session.
func TestEndSessionThatGetsAnotherSessionDeletesNothing(t *testing.T) {
	ours, theirs := net.Pipe()
	served := make(chan struct{})
	deletes := 0
	go func() {
		defer close(served)
		defer theirs.Close()
		xid := int32(firstOwnXid)
		for answer := frame(0, 9000, int64(8), string(make([]byte, 16))); ; {
			var length [proto.LengthSize]byte
			if _, err := io.ReadFull(theirs, length[:]); err != nil {
				return
			}
			body := make([]byte, frameLength(length[:]))
			io.ReadFull(theirs, body)
			if h, _ := proto.ReadRequestHeader(body); h.Op == proto.OpDelete && h.Xid == xid-1 {
				deletes++
			}
			theirs.Write(answer)
			answer = answerFrame(int(xid), 1, 0)
			xid++
		}
	}()
	err := EndSession(t.Context(), ours, EndSessionOptions{
		Identity:  Identity{ID: 7, Password: make([]byte, 16), Timeout: time.Second},
		IOTimeout: time.Minute, Stay: true,
	})
	require.NoError(t, err)
	<-served
	require.Zero(t, deletes)
}

func TestEndSessionEndsWithItsContext(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	go io.Copy(io.Discard, theirs)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	require.Error(t, EndSession(ctx, ours, EndSessionOptions{IOTimeout: time.Hour}))
}

// A server that does not read is given up, like one that does not answer, so
// that another server can be asked.
func TestEndSessionDoesNotWaitForAServerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe() // without a buffer
		defer theirs.Close()
		begin := time.Now()
		require.Error(t, EndSession(t.Context(), ours, EndSessionOptions{IOTimeout: time.Second}))
		require.Equal(t, time.Second, time.Since(begin))
	})
}
