package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// signalError is the cause with which a context ends at a signal.
type signalError struct{ sig syscall.Signal }

func (e signalError) Error() string { return e.sig.String() }

// untilSignal returns a context that ends at the first signal that asks the
// program to stop, with a signalError as its cause. A second signal ends the
// program as usual.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	got := make(chan os.Signal, 1)
	notify(got, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case sig := <-got:
			signal.Stop(got)
			cancel(signalError{sig.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(got)
		cancel(nil)
		<-ended
	}
}

// notify is signal.Notify for signals that are not ignored: a program under
// nohup(1) does not hear of hangups, and neither does its child.
func notify(c chan<- os.Signal, sigs ...os.Signal) {
	for _, sig := range sigs {
		if !signal.Ignored(sig) {
			signal.Notify(c, sig)
		}
	}
}

// orSignal turns an error into a silent one with the status of the signal that
// has ended ctx, if there is one.
func orSignal(ctx context.Context, err error) error {
	var s signalError
	if err != nil && errors.As(context.Cause(ctx), &s) {
		return statusError{status: bySignal + int(s.sig)}
	}
	return err
}
