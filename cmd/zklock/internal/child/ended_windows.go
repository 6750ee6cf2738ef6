package child

import "os"

// Ended returns a channel that is closed when a process has ended.
func Ended(pid int) <-chan struct{} {
	ended := make(chan struct{})
	go func() { // it ends with the process
		defer close(ended)
		if p, err := os.FindProcess(pid); err == nil {
			_, _ = p.Wait()
		}
	}()
	return ended
}
