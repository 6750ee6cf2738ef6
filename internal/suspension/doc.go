// Package suspension measures for how long this machine has been suspended: asleep, or
// as a virtual machine saved and resumed, if the guest is notified.
//
// On Linux and macOS, Go's clock and timers stand still during a suspension. On
// Windows, Go's clock continues and timers fire, so there is no time to add. On other
// systems the time is unknown, and taken as zero.
//
// A host may also pause a virtual machine without notifying the guest. No clock in the
// guest shows such a pause.
package suspension
