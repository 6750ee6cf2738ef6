//go:build unix

package zkserver

import "syscall"

// pause stops the command. The channel is closed when the command is resumed.
func (p *process) pause() (resumed <-chan struct{}, err error) {
	<-p.started
	// The lock is held during the signal, so that signals and channels change
	// in the same order. A signal takes no time.
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return nil, err
	}
	if p.mu.resumed == nil {
		p.mu.resumed = make(chan struct{})
	}
	return p.mu.resumed, nil
}

func (p *process) resume() error {
	<-p.started
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.resumed != nil {
		close(p.mu.resumed)
		p.mu.resumed = nil
	}
	return p.signal(syscall.SIGCONT)
}
