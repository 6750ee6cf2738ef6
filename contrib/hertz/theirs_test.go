package hertz_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sd "github.com/cloudwego/hertz/pkg/app/client/discovery"
	"github.com/cloudwego/hertz/pkg/app/server/registry"
	"github.com/cloudwego/hertz/pkg/common/utils"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/contrib/hertz"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/testing/zktest"
)

// theirs reads as the resolver of hertz-contrib/registry/zookeeper does at
// 8a22033: the children of the service, each one's data, and one that cannot be
// read fails all.
type theirs struct{ client *framework.Client }

func (theirs) Name() string                                           { return "zookeeper" }
func (theirs) Target(_ context.Context, target *sd.TargetInfo) string { return target.Host }

func (r theirs) Resolve(ctx context.Context, name string) (result sd.Result, err error) {
	path := "/" + strings.TrimPrefix(name, "/")
	names, _, err := r.client.Children(ctx, path)
	if err != nil {
		return result, err
	}
	result.CacheKey = name
	for _, name := range names {
		data, _, err := r.client.Get(ctx, path+"/"+name)
		if err != nil {
			return sd.Result{}, err
		}
		var said struct {
			Weight int
			Tags   map[string]string
		}
		if err := json.Unmarshal(data, &said); err != nil {
			return sd.Result{}, fmt.Errorf("%s: %w", name, err)
		}
		result.Instances = append(result.Instances, sd.NewInstance("tcp", name, said.Weight, said.Tags))
	}
	return result, nil
}

// A process with hertz-contrib/registry writes and reads the same nodes as a process
// with this package. For the same info, the bytes differ only in the order of several
// tags, which hertz-contrib/registry changes from write to write.
func TestNodesAreTheirs(t *testing.T) {
	for _, c := range []struct {
		info       registry.Info
		path, data string
		want       found
	}{
		{*infoOf("10.0.0.7:9999"), there, `{"Weight":10,"Tags":null}`, found{"10.0.0.7:9999", 10, ""}},
		{
			registry.Info{ServiceName: "product", Addr: utils.NewNetAddr("tcp", "[2001:db8::7]:80"), Weight: 100, Tags: map[string]string{"group": "<blue>"}},
			"/product/[2001:db8::7]:80", `{"Weight":100,"Tags":{"group":"<blue>"}}`, found{"[2001:db8::7]:80", 100, "<blue>"},
		},
		{
			registry.Info{ServiceName: "product", Addr: utils.NewNetAddr("tcp", "web-1:80"), Tags: map[string]string{}},
			"/product/web-1:80", `{"Weight":0,"Tags":{}}`, found{"web-1:80", 10, ""},
		},
		{*infoOf(":9999"), "/product/" + localIP + ":9999", `{"Weight":10,"Tags":null}`, found{localIP + ":9999", 10, ""}},
		{*infoOf("[::]:9999"), "/product/" + localIP + ":9999", `{"Weight":10,"Tags":null}`, found{localIP + ":9999", 10, ""}},
	} {
		t.Run(c.path, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
				p := start(t, srv)
				require.NoError(t, newRegistry(p.client).Register(&c.info))
				require.Equal(t, c.data, nodeOf(t, srv, c.path))
				require.Equal(t, []found{c.want}, resolve(t, theirs{p.client}, "product"))
			})
			inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
				require.NoError(t, srv.Create(c.path, []byte(c.data)))
				r := hertz.NewResolver(start(t, srv).client)
				require.Equal(t, []found{c.want}, resolve(t, r, "product"))
			})
		})
	}
}

// These are mistakes of theirs: the nodes would be /10.0.0.7:9999, and
// /product/0.0.0.0:9999.
func TestNodesThatTheirsGetsWrong(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, srv *zktest.Server) {
		p := start(t, srv)
		r := newRegistry(p.client)
		slash := infoOf("10.0.0.7:9999")
		slash.ServiceName = "/product"
		require.NoError(t, r.Register(slash))
		nodeOf(t, srv, there)
		for _, name := range []string{"product", "/product"} {
			require.Equal(t, []found{{"10.0.0.7:9999", 10, ""}}, resolve(t, theirs{p.client}, name))
			require.Equal(t, []found{{"10.0.0.7:9999", 10, ""}}, resolve(t, hertz.NewResolver(p.client), name))
		}
		require.NoError(t, r.Deregister(infoOf("10.0.0.7:9999")), "it is the same service")
		require.Empty(t, srv.Children("/product"))
		require.NoError(t, r.Register(infoOf("0.0.0.0:9999")))
		nodeOf(t, srv, "/product/"+localIP+":9999")
	})
}
