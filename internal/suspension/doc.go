// Package suspension tells for how long this machine has been suspended: asleep,
// or a virtual machine that was saved and resumed, where the guest is told.
//
// Go's clock and its timers stand still meanwhile on Linux and macOS, while the
// world goes on. On Windows, Go's clock goes on, and its timers are woken; there
// is nothing to add. On other systems nothing is known here.
//
// Of a machine that its host pauses without a word to the guest, no clock within
// it knows.
package suspension
