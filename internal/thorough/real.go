//go:build real

package thorough

import (
	"flag"
	"strconv"
)

// Parallel lets n parallel tests of a program run at the same time, unless the command
// line says how many. Parallel is for TestMain of packages whose tests mostly wait, so
// more tests than processors can run.
func Parallel(n int) {
	const name = "test.parallel"
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == name })
	if asked {
		return
	}
	if err := flag.Set(name, strconv.Itoa(n)); err != nil {
		panic(err)
	}
}
