//go:build real && !linux

package interop_test

import (
	"errors"
	"syscall"
	"time"
)

// dieWithParent returns nil: other systems have nothing like it.
func dieWithParent() *syscall.SysProcAttr { return nil }

func cpuTime() (time.Duration, error) { return 0, errors.ErrUnsupported }

// alarm is as exact as the runtime's timers.
type alarm struct{}

func newAlarm() (*alarm, error) { return &alarm{}, nil }

func (*alarm) sleep(d time.Duration) error {
	time.Sleep(d)
	return nil
}

func (*alarm) close() {}
