package follow

import "sync"

// Alone calls f on a goroutine of its own, and waits for it. The error is f's,
// or ErrNoReturn if the user's code in f has ended that goroutine. It is for
// calls behind which something is left to do on the caller's goroutine.
func Alone(f func() error) error {
	err := ErrNoReturn
	var call sync.WaitGroup
	call.Go(func() { err = f() })
	call.Wait()
	return err
}
