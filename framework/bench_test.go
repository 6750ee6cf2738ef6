package framework_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// BenchmarkGet is a read from a server in the same process, without and with a Tracer that does nothing.
func BenchmarkGet(b *testing.B) {
	for name, opts := range map[string][]framework.Option{
		"tracer=none": nil,
		"tracer=idle": {framework.WithTracer(framework.NoTracer{})},
	} {
		b.Run(name, func(b *testing.B) {
			srv := zktest.New(b)
			c, err := framework.New(srv.Addr(), append(opts, framework.WithDialer(srv.Dialer()))...)
			require.NoError(b, err)
			b.Cleanup(func() { c.Close() })
			require.NoError(b, c.WaitConnected(b.Context()))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := c.Get(context.Background(), "/"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
