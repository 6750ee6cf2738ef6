//go:build real

package interop_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// serveLines answers every line of every connection until the end of the test,
// and ends all connections then. It calls gone at the end of each connection.
func serveLines(
	t *testing.T, answer func(from io.Writer, line string) string, gone func(from io.Writer),
) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var serving sync.WaitGroup // the acceptor, and one for each connection
	ctx, end := context.WithCancel(context.Background())
	serving.Go(func() {
		for {
			nc, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { // until either side closes the connection
				defer nc.Close()
				defer context.AfterFunc(ctx, func() { nc.Close() })()
				defer gone(nc)
				for lines := bufio.NewScanner(nc); lines.Scan(); {
					fmt.Fprintln(nc, answer(nc, lines.Text()))
				}
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		end()
		serving.Wait()
	})
	return listener.Addr().String()
}
