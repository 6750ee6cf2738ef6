package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/zktest"
)

// registries has services of Java Curator, Spring and Dubbo below /services, and
// nodes of other formats elsewhere.
func registries(t *testing.T) *stand {
	s := newStand(t)
	web, billing := s.client(t), s.client(t)
	enter := func(c *framework.Client, codec discovery.Codec, i discovery.Instance) {
		i.Registered = start
		name, data, err := codec.Encode(i)
		require.NoError(t, err)
		node(t, c, "/services/"+i.Service+"/"+name, string(data))
	}
	enter(web, discovery.CuratorCodec(), discovery.Instance{Service: "orders", ID: "a1", Address: "10.0.0.7", Port: 8080, TLSPort: 8443})
	time.Sleep(time.Hour)
	enter(billing, discovery.CuratorCodec(), discovery.Instance{Service: "orders", ID: "a2", Address: "2001:db8::7", Port: 8080, Disabled: true})
	enter(web, discovery.SpringCodec(), discovery.Instance{
		Service: "billing", ID: "b1", Address: "web-1", Port: 80, Metadata: map[string]string{"zone": "b", "tier": "1"},
	})
	enter(web, discovery.SpringCodec(), discovery.Instance{Service: "billing", ID: "b2", Address: "web-2", Port: 80, Disabled: true})
	enter(billing, discovery.DubboCodec(), discovery.Instance{Service: "stock", Address: "10.0.0.9", Port: 20880})
	enter(web, discovery.SpringCodec(), discovery.Instance{Service: "billing", ID: "b3", Address: "web-1", Port: 80})
	node(t, web, "/services/orders/bad", `{"name":`)
	require.NoError(t, s.Create("/services/orders/static", []byte(`{"name":"orders","id":"static","address":"10.0.0.8","serviceType":"STATIC"}`)))
	require.NoError(t, s.Create("/services/empty", nil))
	time.Sleep(time.Minute)
	return s
}

func TestOutputOfServices(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := registries(t)
		for name, line := range map[string]string{
			"services.table": "services", "services.json": "services -o json",
		} {
			got := s.zklock(t, strings.Fields(line)...)
			require.Zero(t, got.status, "%s: %s", line, got.err)
			require.Empty(t, got.err, line)
			requireGolden(t, name, got.out)
		}
	})
}

// formats returns the names of the formats of package discovery, as its source has
// them: ServersetCodec makes serverset.
func formats(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("../../recipes/discovery/*.go")
	require.NoError(t, err)
	constructor := regexp.MustCompile(`(?m)^func (\w+)Codec\(.*\) Codec `)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range constructor.FindAllSubmatch(source, -1) {
			switch name := string(found[1]); name {
			case "DubboInterface":
				all = append(all, "dubbo-interface")
			default:
				all = append(all, strings.ToLower(name))
			}
		}
	}
	return all
}

// Each format of package discovery is listed by its codec.
func TestServicesOfEachFormat(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		c := s.client(t)
		require.ElementsMatch(t, formats(t), slices.Collect(maps.Keys(codecs)))
		for name, codec := range codecs {
			i := discovery.Instance{Service: "com.acme.Orders", ID: "a1", Address: "10.0.0.7", Port: 8080}
			node, data, err := codec.Encode(i)
			require.NoError(t, err, name)
			dir, err := codec.Dir(i.Service)
			require.NoError(t, err, name)
			_, err = c.Create(t.Context(), "/"+name+dir+"/"+node, data, framework.WithParents())
			require.NoError(t, err, name)
			got := s.zklock(t, "services", "--codec", name, "/"+name)
			require.Zero(t, got.status, "%s: %s", name, got.err)
			require.Regexp(t, `\ncom\.acme\.Orders +\S+ +10\.0\.0\.7:8080 +up `, got.out)
		}
	})
}

// The list needs no right but to read, and says what may not be read. It sets no
// watch, and creates nothing.
func TestServicesOnlyReads(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := registries(t)
		c := s.client(t)
		denied := []zk.ACL{{Perms: zk.PermWrite, Scheme: "world", ID: "anyone"}}
		_, err := c.Create(t.Context(), "/services/orders/secret", nil, framework.WithACL(denied))
		require.NoError(t, err)
		_, err = c.Create(t.Context(), "/services/hidden", nil, framework.WithACL(denied))
		require.NoError(t, err)
		before := fmt.Sprint(s.Tree())
		for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpSetData, zktest.OpDelete, zktest.OpMulti, zkinside.OpAddWatch} {
			s.Inject(zktest.Rule{Optional: true, Op: op, Do: zktest.Call(func(r zktest.Request) { t.Error("request", r) })})
		}
		got := s.zklock(t, "services")
		require.Zero(t, got.status, got.err)
		require.Regexp(t, `\norders +secret +- +may not be read +- +- +-\n`, got.out)
		require.Regexp(t, `\n- +hidden +- +may not be read +- +- +-\n`, got.out)
		require.Contains(t, got.out, "10.0.0.7:8080")
		require.Equal(t, before, fmt.Sprint(s.Tree()))
	})
}

// A node of a stranger may say anything. It hides none of the others, and what it
// says cannot act on a terminal.
func TestServicesOfStrangers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := registries(t)
		for id, node := range map[string]string{
			"future": `{"address":"10.0.0.1","port":1,"registrationTimeUTC":9e15}`,
			"past":   `{"address":"10.0.0.2","port":1,"registrationTimeUTC":-9e15}`,
			"escape": `{"address":"\u001b[31m\u202e","port":1,"payload":{"a\u001b":["\u202e"]}}`,
		} {
			require.NoError(t, s.Create("/services/orders/"+id, []byte(node)))
		}
		for _, format := range []string{"table", "json"} {
			got := s.zklock(t, "services", "-o", format)
			require.Zero(t, got.status, got.err)
			require.Contains(t, got.out, "10.0.0.1")
			require.Contains(t, got.out, "10.0.0.2")
			require.Contains(t, got.out, "10.0.0.7")
			for line := range strings.Lines(got.out) {
				require.True(t, printable.Is(strings.TrimSuffix(line, "\n")), "%q", line)
			}
		}
	})
}

func TestServicesThatAreNotThere(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStand(t)
		require.Equal(t, result{refused, "", "zklock: /services: there is no such node\n"}, s.zklock(t, "services"))
		require.NoError(t, s.Create("/services/orders", nil))
		require.Equal(t, result{0, "", "no instance of a service is below /services\n"}, s.zklock(t, "services"))
		require.Equal(t, result{0, "", ""}, s.zklock(t, "services", "-o", "json"))
		status, _, says := inProcess("-S", s.Addr(), "services", "--codec", "consul")
		require.Equal(t, badUsage, status)
		require.Contains(t, says, `"consul" is no codec: curator, dubbo,`)
	})
}
