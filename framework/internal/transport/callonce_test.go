package transport

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework/internal/proto"
)

// However a connection ends, and however often it is closed: each call that was
// made completes once, and no other call completes.
func TestEveryCallEndsOnceWhoeverCloses(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			l := NewLink(Config{})
			c, p := established(t, l, 7, 9*time.Second)
			readInBackground(c)
			go func() { // a server that answers for a while
				for range 20 {
					frame := p.read()
					if frame == nil {
						return
					}
					p.write(answerFrame(xidOf(frame), 1, 0, "/a"))
				}
			}()
			var made, ended atomic.Int64
			var callers sync.WaitGroup
			for i := range 8 {
				callers.Go(func() {
					for range 10 {
						call, _, err := l.Send(proto.OpSync, path("/a"), func(int32, error) { ended.Add(1) })
						if err != nil {
							assert.ErrorIs(t, err, ErrNotSent)
							return
						}
						made.Add(1)
						<-call.Done()
					}
				})
				if i%2 == 0 {
					callers.Go(func() { c.Close() })
				}
			}
			callers.Go(l.Close)
			callers.Wait()
			require.Equal(t, made.Load(), ended.Load())
			late := l.Wrap(p.nc, time.Now(), nil)
			_, err := late.Read(make([]byte, 1))
			require.Error(t, err)
		})
	}
}
