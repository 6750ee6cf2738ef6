package discovery_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/internal/zkinside"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/testing/zktest"
)

const codeQuota = zktest.Code(-125)

// refuse has the servers refuse to create a node, and returns what ends that.
func refuse(srv *zktest.Server, path string, times int, code zktest.Code) (end func()) {
	var rules []*zktest.Injection
	for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpMulti} {
		rules = append(rules, srv.Inject(zktest.Rule{Optional: true, Path: path, Times: times, Op: op, Do: zktest.Fail(code)}))
	}
	return func() {
		for _, rule := range rules {
			rule.Remove()
		}
	}
}

// A refusal behind a lost session takes no instance away: it is told in the log, and
// the instance is registered again when the servers let it.
func TestRefusalBehindALostSession(t *testing.T) {
	for name, code := range map[string]zktest.Code{"no auth": zktest.ErrNoAuth, "quota": codeQuota} {
		for _, times := range []int{1, -1} { // once, or until it is removed
			t.Run(fmt.Sprint(name, " ", times), func(t *testing.T) {
				inVirtualTime(t, func(t *testing.T, w *world) {
					var log recipetest.Log
					c, network := w.Connect(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
					r := discovery.NewRegistrar(c, base, plain{})
					require.NoError(t, r.Register(w.Patience(t), replica("a", 1)))
					require.NoError(t, r.Register(w.Patience(t), replica("a", 2)))
					end := refuse(w.Fake, base+"/orders/a", times, code)
					network.Expire(t)
					if times < 0 {
						time.Sleep(time.Hour)
						require.Empty(t, w.Fake.Children(base+"/orders"))
						end()
					}
					time.Sleep(time.Minute)
					n, there := w.Fake.Node(base + "/orders/a")
					require.True(t, there)
					require.Equal(t, string(data(t, replica("a", 2))), string(n.Data))
					require.Contains(t, log.String(), "persistent node is refused, and will be retried after a pause")
					require.NoError(t, r.Deregister(w.Patience(t), "orders", "a"))
					time.Sleep(time.Hour)
					require.Empty(t, w.Fake.Children(base+"/orders"))
				})
			})
		}
	}
}

// A Register does not wait for the pause after a refusal. If it is refused, too, the
// instance is registered later with what it said before.
func TestRegisterDuringAPause(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		r := discovery.NewRegistrar(c, base, plain{})
		require.NoError(t, r.Register(w.Patience(t), replica("a", 1)))
		end := refuse(w.Fake, base+"/orders/a", -1, codeQuota)
		network.Expire(t)
		time.Sleep(time.Minute)
		begun := time.Now()
		require.True(t, framework.IsRefusal(r.Register(w.Patience(t), replica("a", 2))))
		require.Less(t, time.Since(begun), time.Second)
		end()
		require.NoError(t, r.Register(w.Patience(t), replica("a", 3)))
		require.Less(t, time.Since(begun), time.Second)

		end = refuse(w.Fake, base+"/orders/a", -1, codeQuota)
		network.Expire(t)
		time.Sleep(time.Minute)
		require.Error(t, r.Register(w.Patience(t), replica("a", 4)))
		end()
		time.Sleep(time.Minute)
		n, _ := w.Fake.Node(base + "/orders/a")
		require.Equal(t, string(data(t, replica("a", 3))), string(n.Data), "the last one was refused")
	})
}

// Another Register of an instance is no new registration: its time stays.
func TestRegisterAgainKeepsTheTime(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		r := discovery.NewRegistrar(w.Observer, base, discovery.CuratorCodec())
		require.NoError(t, r.Register(w.Patience(t), replica("a", 1)))
		before, _ := w.Fake.Node(base + "/orders/a")
		time.Sleep(time.Hour)
		require.NoError(t, r.Register(w.Patience(t), replica("a", 1)))
		after, _ := w.Fake.Node(base + "/orders/a")
		require.Equal(t, string(before.Data), string(after.Data))
		require.Equal(t, before.Stat.Czxid, after.Stat.Czxid)
		require.NoError(t, r.Deregister(w.Patience(t), "orders", "a"))
	})
}

// An instance whose first Register has failed is not registered later.
//
// Promise: An instance whose first Register failed is not registered later.
func TestFirstRegisterThatFails(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		r := discovery.NewRegistrar(c, base, plain{})
		end := refuse(w.Fake, base+"/orders/a", -1, zktest.ErrNoAuth)
		begun := time.Now()
		require.ErrorIs(t, r.Register(w.Patience(t), replica("a", 1)), zk.ErrNoAuth)
		require.Less(t, time.Since(begun), time.Second)
		end()
		network.Refuse(true)
		network.Cut()
		err := r.Register(recipetest.Within(t, time.Minute), replica("b", 1))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, framework.ErrNotConnected)
		network.Refuse(false)
		time.Sleep(time.Hour)
		require.Empty(t, w.Fake.Children(base+"/orders"))
		require.NoError(t, r.Register(w.Patience(t), replica("a", 1)))
		require.NoError(t, c.Close())
		require.ErrorIs(t, r.Register(w.Patience(t), replica("a", 1)), framework.ErrClosed)
		require.NoError(t, r.Deregister(w.Patience(t), "orders", "a"))
	})
	inVirtualTime(t, func(t *testing.T, w *world) {
		for _, r := range []*discovery.Registrar{
			{}, discovery.NewRegistrar(nil, base, plain{}), discovery.NewRegistrar(w.Observer, base, nil),
			discovery.NewRegistrar(w.Observer, base, plain{}, nil),
		} {
			require.ErrorIs(t, r.Register(t.Context(), replica("a", 1)), zk.ErrBadArguments)
			require.NoError(t, r.Deregister(t.Context(), "orders", "a"))
		}
		require.Error(t, discovery.NewRegistrar(w.Observer, base, plain{}).Register(t.Context(), replica("a", -1)))
	})
}

// talkative is a format whose codec calls a function whenever it encodes.
type talkative struct {
	plain
	encodes func()
}

func (c talkative) Encode(i discovery.Instance) (string, []byte, error) {
	c.encodes()
	return c.plain.Encode(i)
}

// A codec may use the Registrar that calls it.
func TestCodecThatUsesTheRegistrar(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		var r *discovery.Registrar
		r = discovery.NewRegistrar(w.Observer, base, talkative{encodes: func() {
			assert.NoError(t, r.Deregister(w.Patience(t), "orders", "b"))
		}})
		for port := range 2 {
			require.NoError(t, r.Register(w.Patience(t), replica("a", port+1)))
		}
		require.NoError(t, r.Deregister(w.Patience(t), "orders", "a"))
	})
}

// A Deregister ends each Register of the instance, whose server is stopped while it
// starts. That is no error.
func TestDeregisterEndsARegisterThatWaits(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		require.NoError(t, w.Fake.Create(base+"/orders/a", data(t, replica("a", 7)))) // another process's
		r := discovery.NewRegistrar(w.Observer, base, plain{})
		registered := make(chan error, 2)
		for port := range 2 {
			go func() { registered <- r.Register(w.Patience(t), replica("a", port+1)) }()
			synctest.Wait()
		}
		require.Empty(t, registered)
		require.NoError(t, r.Deregister(w.Patience(t), "orders", "a"))
		require.NoError(t, <-registered)
		require.NoError(t, <-registered)
		require.NoError(t, w.Fake.Delete(base+"/orders/a"))
		time.Sleep(time.Hour)
		require.Empty(t, w.Fake.Children(base+"/orders"))
	})
}

// What is deregistered in an outage is gone behind it. The outage is no error.
func TestDeregisterInAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		c, network := w.Connect(t)
		r := discovery.NewRegistrar(c, base, plain{})
		require.NoError(t, r.Register(w.Patience(t), replica("a", 1)))
		network.Refuse(true)
		network.Cut()
		cancelled := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { cancelled <- r.Deregister(ctx, "orders", "a") }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-cancelled, context.Canceled)
		begun := time.Now()
		require.NoError(t, r.Deregister(recipetest.Within(t, time.Second), "orders", "a"))
		require.Equal(t, time.Second, time.Since(begun))
		network.Refuse(false)
		require.NoError(t, r.Register(w.Patience(t), replica("a", 2)), "it waits for the first node to go")
		time.Sleep(time.Minute)
		n, _ := w.Fake.Node(base + "/orders/a")
		require.Equal(t, string(data(t, replica("a", 2))), string(n.Data))
		require.NoError(t, r.Deregister(w.Patience(t), "orders", "a"))
		require.Empty(t, w.Fake.Children(base+"/orders"))
	})
}

// The folder of a service is a container, or stays if an option says so.
func TestFolderOfARegistrar(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *world) {
		for service, opts := range map[string][]discovery.RegistrationOption{
			"orders": nil, "bills": {discovery.WithPersistentFolder()},
		} {
			r := discovery.NewRegistrar(w.Observer, base, plain{}, opts...)
			i := replica("a", 1)
			i.Service = service
			require.NoError(t, r.Register(w.Patience(t), i))
			require.NoError(t, r.Deregister(w.Patience(t), service, "a"))
		}
		time.Sleep(time.Hour)
		zkinside.Of(w.Fake).ReapContainers()
		require.Equal(t, []string{"bills"}, w.Fake.Children(base))
	})
}

var registrarSeeds = recipetest.SeedFlags("registrar", 50)

// Instances are registered, updated and deregistered, also at the same time, while
// faults and refusals happen. In the end, each node says what the last calls say.
func TestRegistrarUnderRandomFaults(t *testing.T) {
	registrarSeeds.Each(t, func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) { registrarAtRandom(t, seed) })
	})
}

func registrarFaults(seed uint64) zktest.ChaosPlan {
	const short, long = time.Second, 12 * time.Second
	quota := zktest.Fail(codeQuota)
	return zktest.ChaosPlan{
		Seed: seed,
		Faults: []zktest.Rule{
			{Chance: 0.03, Do: zktest.DropRequest()},
			{Chance: 0.03, Do: zktest.DropReply()},
			{Chance: 0.01, Do: zktest.BlackholeReply()},
			{Chance: 0.02, Do: zktest.DelayReply(500 * time.Millisecond)},
			{Chance: 0.02, Do: zktest.DelayRequest(5 * time.Second)},
			{Chance: 0.1, Op: zktest.OpCreate, Do: quota},
			{Chance: 0.1, Op: zktest.OpSetData, Do: quota},
		},
		Every: 5 * time.Second,
		Disruptions: []zktest.Disruption{
			{Kind: "cut"}, {Kind: "replace"}, {Kind: "expire"},
			{Kind: "stop", For: long}, {Kind: "pause", For: short}, {Kind: "blackhole", For: long}, {Kind: "pause_session", For: long},
		},
	}
}

func registrarAtRandom(t *testing.T, seed uint64) {
	srv := zktest.Start(t, zktest.WithChaos(registrarFaults(seed)))
	var all sync.WaitGroup
	may := make([]map[int]bool, 3) // the ports that the nodes may say at the end; 0 for no node
	for p := range may {
		c, err := framework.New(srv.Addr(), framework.WithDialer(srv.Dialer()), framework.WithSessionTimeout(9*time.Second))
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		r, rng := discovery.NewRegistrar(c, base, plain{}), rand.New(rand.NewPCG(seed, uint64(p)))
		may[p] = map[int]bool{0: true}
		all.Go(func() {
			for port := 1; port <= 30; port++ {
				time.Sleep(time.Duration(rng.Int64N(int64(4 * time.Second))))
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+rng.Int64N(int64(20*time.Second))))
				i := replica(fmt.Sprint("p", p), port)
				switch rng.IntN(3) {
				case 0:
					_ = r.Deregister(ctx, i.Service, i.ID)
					may[p] = map[int]bool{0: true}
				case 1:
					var both sync.WaitGroup
					both.Go(func() { _ = r.Register(ctx, i) })
					time.Sleep(time.Duration(rng.Int64N(int64(time.Second))))
					both.Go(func() { _ = r.Deregister(ctx, i.Service, i.ID) })
					both.Wait()
					_ = r.Deregister(ctx, i.Service, i.ID)
					may[p] = map[int]bool{0: true}
				default:
					switch err := r.Register(ctx, i); {
					case err == nil:
						may[p] = map[int]bool{port: true}
					case !may[p][0]: // it gets that later, if it is not refused
						may[p][port] = true
					}
				}
				cancel()
			}
		})
	}
	all.Wait()
	srv.StopFaults()
	time.Sleep(5 * time.Minute)
	synctest.Wait()
	for p := range may {
		port := 0
		if n, there := srv.Node(fmt.Sprint(base, "/orders/p", p)); there {
			i, err := plain{}.Decode("orders", "", n.Data)
			require.NoError(t, err)
			port = i.Port
		}
		if !may[p][port] {
			recipetest.LogEvents(t, srv)
			t.Errorf("instance %d: the node has %d, may have %v", p, port, may[p])
		}
	}
}
