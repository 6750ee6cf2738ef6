package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocurator/curator/recipes/inspect"
)

// kindsFlag is the value of a flag: kinds of recipes, or nil for all of them.
type kindsFlag []inspect.Kind

// locksAndLeaders are the kinds that somebody may wait for.
var locksAndLeaders = kindsFlag{inspect.Mutex, inspect.ReadWriteLock, inspect.Semaphore, inspect.LeaderLatch}

// kindNames has the short names of kinds.
var kindNames = map[string]inspect.Kind{
	"mutex": inspect.Mutex, "rw": inspect.ReadWriteLock, "sem": inspect.Semaphore, "latch": inspect.LeaderLatch,
	"group": inspect.Registrations, "queue": inspect.Queue,
}

func (k *kindsFlag) String() string { return "locks and leaders" }

// Set reads names with commas between them. A name is a short one, or a kind as
// tables show it.
func (k *kindsFlag) Set(text string) error {
	if text == "all" {
		*k = nil
		return nil
	}
	var kinds kindsFlag
	for name := range strings.SplitSeq(text, ",") {
		kind, ok := kindNames[name]
		if !ok {
			kind = inspect.Kind(name)
		}
		if !slices.Contains(listedKinds, kind) {
			return fmt.Errorf("%q is no kind: mutex, rw, sem, latch, group, queue or all", name)
		}
		kinds = append(kinds, kind)
	}
	*k = kinds
	return nil
}

// Choices implements cli.Chooser.
func (k *kindsFlag) Choices() []string {
	return []string{"mutex", "rw", "sem", "latch", "group", "queue", "all"}
}

// listedKinds are those that the table of ls may show.
var listedKinds = append(slices.Clone(locksAndLeaders), inspect.Registrations, inspect.Queue)
