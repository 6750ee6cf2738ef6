package interop_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/testing/zkserver"
)

// envHolds turns the test program into a process that holds a mutex until stdin
// ends; see holdUntilEnd. The variable has the address and the path.
const envHolds = "CURATOR_INTEROP_BENCH_HOLDS"

const failOverTimeout = 4 * time.Second

// BenchmarkFailOver kills the process that holds a lock, and measures how long a
// client that waits has to wait still. All sessions have the same timeout, and a
// key in Redis as long a validity. In each round all libraries do that at the same
// time, each with a path of its own: they mostly wait.
func BenchmarkFailOver(b *testing.B) {
	srv := zkserver.Start(b, zkserver.WithTick(2*time.Second)) // as in ZooKeeper's own zoo.cfg
	sides := map[string]failOver{"our": ourFailOver(srv.Addr())}
	names := []string{"our"}
	for _, name := range peerNames {
		program, err := programs[name](b, srv.Addr())
		if err != nil {
			tellLeftOut(name, err)
			continue
		}
		sides[name] = peerFailOver(func() *exec.Cmd { return program(srv.Addr(), failOverTimeout) })
		names = append(names, name)
	}
	b.Run("4-s-timeout", func(b *testing.B) {
		took := map[string][]float64{}
		for n := 0; b.Loop(); n++ {
			for name, d := range killAll(b, sides, fmt.Sprint("/bench/fail-over-", n)) {
				took[name] = append(took[name], d.Seconds()*1000)
			}
		}
		b.ReportMetric(0, "ns/op") // of a round of all, which means nothing
		for _, name := range names {
			b.ReportMetric(median(slices.Clone(took[name])), name+"-ms")
			if name != "our" {
				reportRatios(b, "x-"+name, took[name], took["our"])
			}
		}
	})
}

// failOver lets one process hold a path and another wait for it. It returns what
// kills the one, and what waits until the other has acquired.
type failOver func(b *testing.B, path string) (kill func(), wait func() error)

// killAll returns how long each waits after the kill.
func killAll(b *testing.B, sides map[string]failOver, path string) map[string]time.Duration {
	kills, waits := map[string]func(){}, map[string]func() error{}
	for _, name := range slices.Sorted(maps.Keys(sides)) {
		kills[name], waits[name] = sides[name](b, path+"-"+name)
	}
	// They queue meanwhile. The kill is somewhere between two heartbeats.
	time.Sleep(time.Second + time.Duration(time.Now().UnixNano()%int64(time.Second)))
	type end struct {
		name string
		took time.Duration
		err  error
	}
	ends := make(chan end, len(sides))
	for name, wait := range waits {
		kills[name]()
		start := time.Now()
		go func() {
			err := wait()
			ends <- end{name, time.Since(start), err}
		}()
	}
	took := map[string]time.Duration{}
	for range sides {
		e := <-ends
		require.NoError(b, e.err, e.name)
		took[e.name] = e.took
	}
	return took
}

// peerFailOver has two processes of a program. They end with the round.
func peerFailOver(program func() *exec.Cmd) failOver {
	return func(b *testing.B, path string) (kill func(), wait func() error) {
		holder, waiter := startProgram(b, program()), startProgram(b, program())
		ctx := withDeadline(b)
		acquire := func(p *peer) error {
			_, err := p.ask(ctx, "acquire", "a", path, waitLimit.Milliseconds())
			return err
		}
		require.NoError(b, acquire(holder))
		done := make(chan error, 1)
		go func() { done <- acquire(waiter) }()
		return holder.kill, func() error {
			err := <-done
			waiter.endCommands() // the next round has processes of its own
			return err
		}
	}
}

// ourFailOver has the waiter in this process.
func ourFailOver(addr string) failOver {
	return func(b *testing.B, path string) (kill func(), wait func() error) {
		holder := exec.Command(os.Args[0])
		holder.Env = append(os.Environ(), envHolds+"="+addr+" "+path)
		holder.Stderr = os.Stderr
		stdin, err := holder.StdinPipe()
		require.NoError(b, err)
		stdout, err := holder.StdoutPipe()
		require.NoError(b, err)
		require.NoError(b, holder.Start())
		kill = func() {
			holder.Process.Kill()
			holder.Wait() // says that it was killed
		}
		b.Cleanup(func() { stdin.Close() })
		_, err = io.ReadFull(stdout, make([]byte, 1))
		require.NoError(b, err, "it does not hold the mutex")
		c, err := framework.New(addr, framework.WithSessionTimeout(failOverTimeout))
		require.NoError(b, err)
		b.Cleanup(func() { c.Close() })
		done := make(chan error, 1)
		go func() {
			_, err := locks.NewInterProcessMutex(c, path).Acquire(b.Context())
			done <- err
		}()
		return kill, func() error {
			err := <-done
			c.Close()
			return err
		}
	}
}

// holdUntilEnd writes a byte when it holds the mutex.
func holdUntilEnd(variable string) error {
	addr, path, _ := strings.Cut(variable, " ")
	c, err := framework.New(addr, framework.WithSessionTimeout(failOverTimeout))
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := locks.NewInterProcessMutex(c, path).Acquire(context.Background()); err != nil {
		return err
	}
	fmt.Print("1")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
