// Package histories checks the answers that the clients of a lock, a number or a value have
// received, and when: is there an order of all calls in which each answer is right? Only tests
// import it.
package histories

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// History is a record of clients' calls and their answers. The zero value is ready, and
// may be used by many goroutines.
type History struct {
	mu    sync.Mutex
	clock int64 // counts the beginnings and ends of calls
	calls []porcupine.Operation
}

// Call is a call that has begun.
type Call struct {
	history *History
	client  int
	begun   int64
}

// Begin records the beginning of a client's call.
func (h *History) Begin(client int) Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	return Call{h, client, h.clock}
}

// End records the end of a call, with its request and its answer. A call that has
// changed nothing needs no End.
func (c Call) End(asked, told any) {
	h := c.history
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	h.add(c, asked, told, h.clock)
}

// Open records a call whose outcome is unknown: the request may take effect at any
// later time, or never.
func (c Call) Open(asked any) {
	h := c.history
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(c, asked, unknown{}, math.MaxInt64)
}

func (h *History) add(c Call, asked, told any, end int64) {
	h.calls = append(h.calls,
		porcupine.Operation{ClientId: c.client, Input: asked, Call: c.begun, Output: told, Return: end})
}

// unknown is the answer to a call whose outcome is unknown.
type unknown struct{}

// longestCheck bounds the search for an order.
const longestCheck = time.Minute

// Check searches for an order that explains all answers. It returns an error that lists
// the calls if there is no such order, or if none was found within a minute. It also
// returns an error if there are no answers, because any order would explain that.
func (h *History) Check(m porcupine.Model) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.ContainsFunc(h.calls, wasTold) {
		return fmt.Errorf("none of %d calls has an answer", len(h.calls))
	}
	switch porcupine.CheckOperationsTimeout(m, h.calls, longestCheck) {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return fmt.Errorf("no order was found in %v for %d calls", longestCheck, len(h.calls))
	default:
		return fmt.Errorf("no order explains these calls:%s", h.textLocked(m))
	}
}

func wasTold(c porcupine.Operation) bool {
	_, open := c.Output.(unknown)
	return !open
}

// textLocked lists the calls by their beginnings.
func (h *History) textLocked(m porcupine.Model) (text string) {
	for _, c := range h.calls {
		text += fmt.Sprintf("\n%d to %d: client %d: %s", c.Call, c.Return, c.ClientId, m.DescribeOperation(c.Input, c.Output))
	}
	return text
}

// describe returns the text of a call.
func describe(asked, told any) string { return fmt.Sprintf("%T%+v: %+v", asked, asked, told) }
