//go:build real

package tracing_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/tracing"
)

// envHolderOf makes this executable the other process of a test: a service that
// holds a lock at the server of this address.
const envHolderOf = "TRACING_TEST_HOLDER_OF"

func TestMain(m *testing.M) {
	if addr := os.Getenv(envHolderOf); addr != "" {
		if err := runHolder(addr, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	leaktest.Main(m)
}

// runHolder serves a request under the lock. It prints the id of the request's
// trace and ends when its input does.
func runHolder(addr string, in io.Reader, out io.Writer) error {
	spans := sdktrace.NewTracerProvider()
	c, err := framework.New(addr, framework.WithServiceName("orders"),
		framework.WithHooks(tracing.New(tracing.WithTracerProvider(spans))))
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, span := spans.Tracer("orders").Start(context.Background(), "POST /orders")
	defer span.End()
	return locks.NewInterProcessMutex(c, "/locks/sku-42").Do(ctx, func(context.Context) error {
		fmt.Fprintln(out, span.SpanContext().TraceID())
		_, err := io.Copy(io.Discard, in)
		return err
	})
}

func TestWaiterLinksToTheHoldersTrace(t *testing.T) {
	srv := zkserver.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	holder := exec.CommandContext(ctx, os.Args[0])
	holder.Env = append(os.Environ(), envHolderOf+"="+srv.Addr())
	holder.Stderr = os.Stderr
	in, err := holder.StdinPipe()
	require.NoError(t, err)
	out, err := holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	heldIn := strings.TrimSpace(line)

	recorder := tracetest.NewSpanRecorder()
	c, err := framework.New(srv.Addr(), recordInto(recorder))
	require.NoError(t, err)
	defer c.Close()
	waiting := make(chan error)
	go func() {
		lease, err := locks.NewInterProcessMutex(c, "/locks/sku-42").Acquire(ctx)
		if err == nil {
			err = lease.Release(ctx)
		}
		waiting <- err
	}()
	waits := func() bool { return framework.Extend(c).Watches() == 2 } // the next in line watches its own node, too
	require.Eventually(t, waits, 30*time.Second, time.Millisecond)
	require.NoError(t, in.Close())
	require.NoError(t, <-waiting)
	require.NoError(t, holder.Wait())

	acquired := recorder.Ended()[0]
	require.Equal(t, "acquire mutex", acquired.Name())
	require.Len(t, acquired.Links(), 1)
	require.Equal(t, heldIn, acquired.Links()[0].SpanContext.TraceID().String())
	require.True(t, acquired.Links()[0].SpanContext.IsRemote())
	require.NotEqual(t, trace.TraceID{}, acquired.SpanContext().TraceID())
	host, err := os.Hostname()
	require.NoError(t, err)
	owner := fmt.Sprintf("orders@%s/%d", host, holder.Process.Pid)
	require.Equal(t, owner, attributesOf(acquired.Attributes())["curator.lock.holder"])
	var names []string
	for _, event := range acquired.Events() {
		names = append(names, event.Name)
	}
	require.Equal(t, []string{"enqueued", "watching", "woken", "handed over", "granted"}, names)
}
