// Package seat is the engine of locks and leaders. A [Seat] is what a client has at one
// lock: a node that is queued or holds the lock. A [Hold] is one holder's part of a seat.
// A [Lease] is one share of a hold, or the shares of several holds that were taken
// together.
//
// The goroutines of a client that want the same lock wait in a line. The goroutines get
// the seat in the order of their arrival: readers share the seat, and all others take
// turns. After every change, decideLocked gives the seat to the first waiters. After a
// release, decideRelease may hand the seat on. The goroutine that creates the node is
// admitted by contender.step, which reads the server's queue, or by the deletion of the
// node ahead; see contender.isFirst. Leaders, and the leases of a semaphore, have seats
// without a line.
//
// # States
//
// A mutex guards the state. Every transition goes through Seat.becomeLocked, which
// refuses transitions that are not in the table of edges:
//
//	from      to        because
//	--------  --------  ------------------------------------------------------------
//	Queueing  Held      the node was admitted, and its session is trusted
//	Queueing  Gone      the driver gives up, and no other driver takes over
//	Held      Parked    a release keeps the node, by the policy of the lease
//	Held      Deleting  a release deletes the node
//	Held      Lost      the session ends or is suspended, another client deletes the
//	                    node or asks for a revocable lock, a leader loses it
//	Parked    Held      a goroutine of this client wants the lock
//	Parked    Deleting  another contender queues or asks for the lock, or the time is over
//	Parked    Lost      as from Held; the node is then deleted at once
//	Lost      Deleting  the last holder has stopped
//	Lost      Kept      a leader becomes a candidate again with the node after an
//	                    interruption
//	Lost      Parked    an interruption does not end a minimum hold
//	Deleting  Gone      a server has answered, or the client deletes the node in the
//	                    background
//
// Kept and Gone are final. The next table says what else is true in each state. Its last
// column says what the tracer and the log receive.
//
//	state     contexts         nodes                 the lane             reported
//	--------  ---------------  --------------------  -------------------  -----------
//	Queueing  none             queued, or not yet    waits for it         the wait
//	Held      alive            exist                 waits, or shares it  the hold
//	Parked    none             exist                 the next one has it  the release
//	Lost      end, with cause  stay for the holders  has another seat     the loss
//	Deleting  ended, released  the deletion is sent  has another seat
//	Kept      ended            the next seat's       none
//	Gone      ended            deleted, or soon      has another seat     the release
//
// A seat that rests for a minimum hold is Parked, and no goroutine gets it.
//
// # The context ends first
//
// A hold's context ends with its first cause, and that cause decides. A session ends the
// contexts of all its holds before it calls a seat. The contexts of a Held seat may
// therefore have ended already, so code that gives a seat away checks the context, too.
// Each of these races has one outcome:
//
//   - A release and a loss: the first of them is the cause. A release after the loss
//     returns the loss.
//   - A release and a leader that sees the end of the lease's context: the release deletes
//     the node and receives the server's answer. Dissolve waits for the release.
//   - The session ends, or another client deletes the node, during a hand-over. If this
//     happens before the hand-over, the next goroutine gets another seat, and the node is
//     deleted as after every loss. If it happens after the hand-over, the next goroutine's
//     hold is Lost. If that goroutine has not run yet, it also gets the next seat.
//   - Another client asks for the lock during a hand-over: as above, but after the
//     hand-over, the next goroutine's hold receives the request and is not lost.
//
// # Files
//
// Each type has its methods in the files of its line, and in no other file.
//
//	Config, Options, Policy   config.go               what a recipe configures
//	Lock                      lock.go, queue.go, try.go
//	                                                  an acquire and its errors; who is at the lock's path;
//	                                                  a try that a listing refuses
//	Attempt                   lock.go                 one acquire, and its trace
//	lane                      lane.go, drive.go, memory.go
//	                                                  who of this client gets the seat next; a driver's
//	                                                  way to an admitted node; what errors say of the queue
//	line, laneSet             drive.go                goroutines that wait, and the lanes of the process
//	contender                 contender.go, wait.go, byevent.go
//	                                                  a node in the queue; its way to the head; a grant
//	                                                  by the deletion of the node ahead
//	Seat                      seat.go, watched.go, release.go
//	                                                  states and loss; the watch of our own nodes; the end
//	reading                   reading.go              readers who join a seat; nil for a seat of one holder
//	parking                   parking.go              a seat without a hold; nil without a watch on the queue
//	minimumHold               minimumhold.go          a lock that stays after its release; nil without the option
//	Hold                      hold.go, leaders.go, release.go
//	                                                  one holder's part of a seat, and what its release does
//	Lease                     lease.go, several.go    shares of a hold, and of several
//	Turn                      places.go               the leases of a semaphore
//	contexts of leases        context.go
//	errors                    errors.go               why contexts end, and why an acquire fails
package seat
