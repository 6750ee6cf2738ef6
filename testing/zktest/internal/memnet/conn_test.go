package memnet

import (
	"bytes"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPipeCarriesMoreThanItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe("x")
		sent := bytes.Repeat([]byte("0123456789"), capacity/4)
		go func() {
			n, err := a.Write(sent)
			assert.NoError(t, err)
			assert.Equal(t, len(sent), n)
			a.Close()
		}()
		synctest.Wait() // the writer is stuck at the capacity
		require.Len(t, b.in.buf, capacity)
		received, err := io.ReadAll(b)
		require.NoError(t, err)
		require.True(t, bytes.Equal(sent, received))
	})
}

func TestPipeKeepsOrderWhenReadBitByBit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe("x")
		sent := make([]byte, 3*capacity)
		for i := range sent {
			sent[i] = byte(i % 251)
		}
		go func() {
			for chunk := range slices.Chunk(sent, 1000) {
				_, err := a.Write(chunk)
				assert.NoError(t, err)
			}
			a.Close()
		}()
		var received []byte
		p := make([]byte, 777)
		for {
			n, err := b.Read(p)
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			received = append(received, p[:n]...)
			synctest.Wait()
		}
		require.True(t, bytes.Equal(sent, received))
	})
}

func TestPipeClose(t *testing.T) {
	a, b := Pipe("x")
	_, err := a.Write([]byte("last words"))
	require.NoError(t, err)
	require.NoError(t, a.Close())

	_, err = b.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.EPIPE)
	all, err := io.ReadAll(b)
	require.NoError(t, err, "what was written before the end can be read")
	require.Equal(t, "last words", string(all))
	_, err = a.Read(make([]byte, 1))
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = a.Write([]byte("x"))
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestPipeReset(t *testing.T) {
	a, b := Pipe("x")
	_, err := a.Write([]byte("lost"))
	require.NoError(t, err)
	require.NoError(t, a.SetLinger(0))
	require.NoError(t, a.Close())
	_, err = b.Read(make([]byte, 1))
	require.ErrorIs(t, err, syscall.ECONNRESET)
}

func TestPipeDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe("x")
		start := time.Now()
		require.NoError(t, b.SetReadDeadline(start.Add(time.Second)))
		_, err := b.Read(make([]byte, 1))
		requireTimeout(t, err)
		require.Equal(t, time.Second, time.Since(start))

		require.NoError(t, a.SetDeadline(start.Add(3*time.Second)))
		n, err := a.Write(make([]byte, capacity+1))
		requireTimeout(t, err)
		require.Equal(t, capacity, n)
		require.Equal(t, 3*time.Second, time.Since(start))

		_, err = b.Read(make([]byte, 1))
		requireTimeout(t, err) // although there is something to read, as with TCP
		require.NoError(t, b.SetDeadline(time.Time{}))
		_, err = b.Read(make([]byte, 1))
		require.NoError(t, err)
	})
}

func requireTimeout(t *testing.T, err error) {
	t.Helper()
	var netErr net.Error
	require.ErrorAs(t, err, &netErr)
	require.True(t, netErr.Timeout())
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

func TestPipeDeadlineSetWhileReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, b := Pipe("x")
		for range 2 { // two readers share the deadline and its timer
			go func() {
				_, err := b.Read(make([]byte, 1))
				assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
			}()
		}
		synctest.Wait()
		require.NoError(t, b.SetReadDeadline(time.Now().Add(time.Hour)))
		require.NoError(t, b.SetReadDeadline(time.Now().Add(time.Second)))
		start := time.Now()
		time.Sleep(2 * time.Second)
		require.Equal(t, 2*time.Second, time.Since(start))
	})
}

func TestPipeCloseWakesReaderAndWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := Pipe("x")
		go func() {
			_, err := a.Read(make([]byte, 1))
			assert.ErrorIs(t, err, net.ErrClosed)
		}()
		go func() {
			_, err := a.Write(make([]byte, 2*capacity))
			assert.ErrorIs(t, err, net.ErrClosed)
		}()
		synctest.Wait()
		require.NoError(t, a.Close())
	})
}

func TestPipeAddresses(t *testing.T) {
	a, b := Pipe("zk1:2181")
	require.Equal(t, "zk1:2181", a.RemoteAddr().String())
	require.Equal(t, a.LocalAddr(), b.RemoteAddr())
	require.Equal(t, "tcp", b.LocalAddr().Network())
}
