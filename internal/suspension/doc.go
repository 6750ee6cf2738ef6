// Package suspension measures for how long this machine has been suspended:
// asleep, or a virtual machine that was saved and resumed, if the guest is
// told.
//
// Go's clock and its timers stand still during a suspension on Linux and macOS,
// while the world goes on. On Windows, Go's clock goes on, and its timers are
// woken, so there is no time to add. On other systems the time is not known,
// and taken as zero.
//
// A host may also pause a virtual machine without telling the guest. No clock
// within the guest shows that.
package suspension
