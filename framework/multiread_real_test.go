//go:build real

package framework_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/insider"
	"github.com/gocurator/curator/internal/thorough"
	"github.com/gocurator/curator/internal/zkserver"
)

// One node is written, and then the other one, again and again. So the first one
// has the version of the other one or the next, at each moment. Reads one by one
// see it otherwise, and MultiRead does not, whatever is between the two.
func TestRealServerMultiReadIsAsOfOneTransaction(t *testing.T) {
	t.Parallel()
	ens := zkserver.StartEnsemble(t, 3)
	for i, srv := range append(ens.Members(), sharedServer(t)) {
		writer, reader := realClient(t, srv, ""), realClient(t, srv, "")
		first, second := fmt.Sprint("/first-", i), fmt.Sprint("/second-", i)
		mustCreate(t, writer, first, "")
		mustCreate(t, writer, second, "")
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				writer.Set(ctx, first, nil, framework.AnyVersion)
				writer.Set(ctx, second, nil, framework.AnyVersion)
			}
		}()
		paths := append([]string{first}, slices.Repeat([]string{"/"}, 1000)...)
		paths = append(paths, second)
		versions := map[int32]struct{}{}
		for begun := time.Now(); len(versions) < thorough.Size(40, 10) && time.Since(begun) < time.Second || len(versions) < 10; {
			nodes, zxid, err := insider.Of(reader).MultiRead(ctx, paths...)
			require.NoError(t, err)
			a, b := nodes[0].Stat, nodes[len(nodes)-1].Stat
			require.Contains(t, []int32{0, 1}, a.Version-b.Version)
			require.LessOrEqual(t, max(a.Mzxid, b.Mzxid), zxid)
			versions[a.Version] = struct{}{}
		}
		stop()
		<-done
		require.NoError(t, writer.Delete(t.Context(), first, framework.AnyVersion))
		require.NoError(t, writer.Delete(t.Context(), second, framework.AnyVersion))
	}
}
