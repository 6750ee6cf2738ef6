package follow

import (
	"sync"
	"sync/atomic"
)

// Slots has room for each call that is under way: its capacity is how many there
// may be. Several goroutines may share it.
type Slots chan struct{}

// Each calls f with the numbers from 0 up to n, each on a goroutine of its own,
// and waits for all of them. After an error it begins no more calls. It returns
// the error of the lowest number that has one. A call whose goroutine the user's
// code has ended has ErrNoReturn: nobody may take it for one that has found
// nothing. A call that panics is the last one that begins, too, and Each panics
// when all are over, as if it had made the call itself.
func (s Slots) Each(n int, f func(i int) error) error {
	errs := make([]error, n)
	var calls sync.WaitGroup
	var failed atomic.Bool
	var panicked atomic.Pointer[any]
	for i := 0; i < n; i++ {
		s <- struct{}{}
		if failed.Load() {
			<-s
			break
		}
		calls.Go(func() {
			err := ErrNoReturn
			defer func() {
				if p := recover(); p != nil {
					panicked.Store(&p)
				}
				if errs[i] = err; err != nil {
					failed.Store(true)
				}
				<-s
			}()
			err = f(i)
		})
	}
	calls.Wait()
	if p := panicked.Load(); p != nil {
		panic(*p)
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
