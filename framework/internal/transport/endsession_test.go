package transport

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/jute"
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
			var length [lengthSize]byte
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

func frameOf(fields ...any) []byte {
	b := make([]byte, lengthSize)
	for _, f := range fields {
		switch f := f.(type) {
		case int32:
			b = jute.AppendInt32(b, f)
		case int64:
			b = jute.AppendInt64(b, f)
		case []byte:
			b = jute.AppendBuffer(b, f)
		}
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-lengthSize))
	return b
}

func TestEndSession(t *testing.T) {
	granted := frameOf(int32(0), int32(9000), int64(7), make([]byte, 16))
	another := frameOf(int32(0), int32(9000), int64(8), make([]byte, 16))
	expired := frameOf(int32(0), int32(0), int64(0), make([]byte, 16))
	refused := frameOf(int32(firstOwnXid), int64(1), int32(-118))
	noTimeout := frameOf(int32(0), int32(0), int64(7), make([]byte, 16))
	tooLong := frameOf(int32(firstOwnXid), int64(1), int32(0), make([]byte, 2000))
	ended := frameOf(int32(firstOwnXid), int64(1), int32(0))
	event := frameOf(int32(xidNotification), int64(1), int32(0), int32(1), int32(3), []byte("/n"))
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
		"a frame that is too short":         {frameOf(int32(0)), nil, false},
		"a reply that is too short":         {granted, frameOf(int32(firstOwnXid)), false},
		"a session without a timeout":       {noTimeout, nil, false},
		"a reply that is too long":          {granted, tooLong, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := endAgainst(t, tc.first, tc.then)
			require.Equal(t, tc.over, err == nil, "%v", err)
		})
	}
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
