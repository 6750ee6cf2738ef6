//go:build real

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
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/zkserver"
	"github.com/gocurator/curator/recipes/locks"
)

// envHolds turns the test program into a process that holds a mutex until stdin
// ends; see holdUntilEnd. The variable has the address and the path.
const envHolds = "INTEROP_BENCH_HOLDS"

const failOverTimeout = 4 * time.Second

// BenchmarkFailOver kills the process that holds a lock, and measures how long a
// client that waits has to wait still. All sessions have the same timeout, and a
// key in Redis as long a validity. In each round all libraries do that at the same
// time, each with its own path: they mostly wait. A library that has an error is
// left out from then on.
func BenchmarkFailOver(b *testing.B) {
	srv := zkserver.Start(b, zkserver.WithTick(2*time.Second)) // as in ZooKeeper's own zoo.cfg
	sides := failOvers{"our": ourFailOver(srv.Addr())}
	for _, name := range peerNames {
		program, err := programs[name](b, srv.Addr())
		if err != nil {
			tellLeftOut(name, err)
			continue
		}
		sides[name] = peerFailOver(func() *exec.Cmd { return program(srv.Addr(), failOverTimeout) })
	}
	b.Run("4-s-timeout", func(b *testing.B) {
		took := map[string][]float64{}
		for n := 0; b.Loop(); n++ {
			for name, d := range sides.killAll(b, fmt.Sprint("/bench/fail-over-", n)) {
				took[name] = append(took[name], d.Seconds()*1000)
			}
		}
		b.ReportMetric(0, "ns/op") // of a round of all, which means nothing
		for name := range sides {
			b.ReportMetric(median(slices.Clone(took[name])), name+"-ms")
			if name != "our" {
				reportRatios(b, "x-"+name, took[name], took["our"])
			}
		}
		if len(sides) == 1 {
			b.Skip("nobody to compare with") // so there is no row
		}
	})
}

// failOver lets one process hold a path and another wait for it.
type failOver func(b *testing.B, path string) (waiting, error)

// waiting is what one library does in a round.
type waiting struct {
	kill func()         // the holder
	wait func() granted // for the waiter
}

// failOvers are the libraries by their names.
type failOvers map[string]failOver

// leaveOut is for a library that has an error. Without ours there is nothing to
// compare.
func (f failOvers) leaveOut(b *testing.B, name string, err error) {
	if name == "our" {
		require.NoError(b, err)
	}
	tellLeftOut(name+" of fail-over", err)
	delete(f, name)
}

// killAll returns how long each waits after the kill, until its acquire returns.
func (f failOvers) killAll(b *testing.B, path string) map[string]time.Duration {
	all := map[string]waiting{}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		w, err := f[name](b, path+"-"+name)
		if err != nil {
			f.leaveOut(b, name, err)
			continue
		}
		all[name] = w
	}
	// They queue meanwhile. The kill is somewhere between two heartbeats.
	time.Sleep(time.Second + time.Duration(time.Now().UnixNano()%int64(time.Second)))
	killed := map[string]time.Time{}
	for name, w := range all {
		w.kill()
		killed[name] = time.Now()
	}
	took := map[string]time.Duration{}
	for name, w := range all {
		got := w.wait()
		if got.err != nil {
			f.leaveOut(b, name, got.err)
			continue
		}
		took[name] = got.at.Sub(killed[name])
	}
	return took
}

// peerFailOver has two processes of a program. They end with the round.
func peerFailOver(program func() *exec.Cmd) failOver {
	return func(b *testing.B, path string) (waiting, error) {
		ctx := withDeadline(b)
		acquire := func(p *peer) error {
			_, err := p.ask(ctx, "acquire", "a", path, waitLimit.Milliseconds())
			return err
		}
		holder, err := tryProgram(b, program())
		if err != nil {
			return waiting{}, err
		}
		waiter, err := tryProgram(b, program())
		if err != nil {
			return waiting{}, err
		}
		if err := acquire(holder); err != nil {
			holder.kill() // it may not end by itself
			return waiting{}, err
		}
		done := make(chan granted, 1)
		go func() {
			err := acquire(waiter)
			done <- granted{at: time.Now(), err: err}
		}()
		return waiting{holder.kill, func() granted {
			got := <-done
			if got.err != nil {
				waiter.kill()
			}
			waiter.endCommands() // the next round has new processes
			return got
		}}, nil
	}
}

// ourFailOver has the waiter in this process.
func ourFailOver(addr string) failOver {
	return func(b *testing.B, path string) (waiting, error) {
		ctx := withDeadline(b) // ends the holder, too
		holder := exec.CommandContext(ctx, os.Args[0])
		holder.Env = append(os.Environ(), envHolds+"="+addr+" "+path)
		holder.Stderr = os.Stderr
		stdin, err := holder.StdinPipe()
		require.NoError(b, err)
		stdout, err := holder.StdoutPipe()
		require.NoError(b, err)
		require.NoError(b, holder.Start())
		kill := sync.OnceFunc(func() {
			holder.Process.Kill()
			holder.Wait() // says that it was killed
		})
		b.Cleanup(kill)
		b.Cleanup(func() { stdin.Close() })
		_, err = io.ReadFull(stdout, make([]byte, 1))
		require.NoError(b, err, "it does not hold the mutex")
		c, err := framework.New(addr, framework.WithSessionTimeout(failOverTimeout))
		require.NoError(b, err)
		b.Cleanup(func() { c.Close() })
		done := make(chan granted, 1)
		go func() {
			_, err := locks.NewInterProcessMutex(c, path).Acquire(ctx)
			done <- granted{at: time.Now(), err: err}
		}()
		return waiting{kill, func() granted {
			got := <-done
			c.Close()
			return got
		}}, nil
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
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if _, err := locks.NewInterProcessMutex(c, path).Acquire(ctx); err != nil {
		return err
	}
	fmt.Print("1")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
