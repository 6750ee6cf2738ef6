package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
)

// signalError is the cause of a context that a signal has ended.
type signalError struct{ sig syscall.Signal }

func (e signalError) Error() string { return e.sig.String() }

// untilSignal returns a context that ends at the first signal that asks the
// program to stop, with a signalError as its cause. A second signal ends the
// program as usual.
func (h host) untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	got := make(chan os.Signal, 1)
	h.notify(got, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case sig := <-got:
			h.forget(got)
			cancel(signalError{sig.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		h.forget(got)
		cancel(nil)
		<-ended
	}
}

// orSignal returns an error without a text, but with the status of the signal, if a
// signal has ended ctx. Otherwise orSignal returns err.
func orSignal(ctx context.Context, err error) error {
	var s signalError
	if err != nil && errors.As(context.Cause(ctx), &s) {
		return statusError{status: bySignal + int(s.sig)}
	}
	return err
}

// untilStart returns a context that ends when a signal arrives, with a signalError as
// its cause. The returned function stops listening, and returns an error if a signal
// has arrived: the command must not be started then. Later signals stay in the channel.
func untilStart(ctx context.Context, signals <-chan os.Signal) (context.Context, func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case sig := <-signals:
			cancel(signalError{sig.(syscall.Signal)})
		case <-done:
		}
	}()
	var once sync.Once
	return ctx, func() error {
		once.Do(func() {
			close(done)
			<-ended
			select {
			case sig := <-signals: // it arrived at the same time
				cancel(signalError{sig.(syscall.Signal)})
			default:
			}
		})
		var s signalError
		if errors.As(context.Cause(ctx), &s) {
			return statusError{status: bySignal + int(s.sig)}
		}
		return nil
	}
}

// asksToStop reports whether a signal asks a program to stop.
func asksToStop(sig os.Signal) bool {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		return true
	}
	return false
}
