package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/leaktest"
	"github.com/gocurator/curator/testing/zktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var update = flag.Bool("update", false, "rewrite the golden file")

// In virtual time the trees are the same in each run, except for the ids and the
// names of the host and the process.
func TestTree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := zktest.Start(t)
		srv.Inject(zktest.Rule{Op: zktest.OpAny, Times: -1, Do: zktest.DelayReply(2 * time.Millisecond)})
		connect := func(ctx context.Context, opts ...framework.Option) (*framework.Client, error) {
			return framework.Connect(ctx, srv.Addr(), append(opts, framework.WithDialer(srv.Dialer()))...)
		}
		client, err := connect(t.Context())
		require.NoError(t, err)
		require.NoError(t, openShop(t.Context(), client))
		require.NoError(t, client.Close())
		var out bytes.Buffer
		require.NoError(t, tell(t.Context(), connect, &out))

		host, _ := os.Hostname()
		got := strings.ReplaceAll(out.String(), fmt.Sprintf("@%s/%d", host, os.Getpid()), "@web-1/4711")
		ids := []string{"1d93c0a2", "8f21b7e4"}
		for _, m := range regexp.MustCompile(`(?m)^\w+, trace (\w{8})`).FindAllStringSubmatch(got, -1) {
			got, ids = strings.ReplaceAll(got, m[1], ids[0]), ids[1:]
		}
		const file = "testdata/tree.golden"
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(got), 0o666))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), got, "run the test with -update, and look at what has changed")
	})
}
