// Package seat is the engine of locks and leaders. A [Seat] is what a client has at one
// lock: a node that queues or holds. A [Hold] is one holder's part of it, and a [Lease]
// one share of a hold, or the shares of several that were taken together.
//
// The goroutines of a client that want one lock stand in a line. The seat is given to
// them in the order of their arrival: readers have it together, all others in turn.
// decideLocked gives it to the first of them after every change, and decideRelease says
// what a release does, which may be to hand the seat on. Whoever makes a node is admitted
// by contender.step, which looks at the server's queue, or by the deletion of the node
// ahead; see contender.isFirst.
// Leaders, and the leases of a semaphore, have seats that no line waits for.
//
// # States
//
// A mutex guards the state. Every transition goes through Seat.becomeLocked, which
// refuses those that are not in the table of edges:
//
//	from      to       because
//	--------  -------  ------------------------------------------------------------
//	Queueing  Held     the node was admitted, and its session is trusted
//	Queueing  Gone     the driver gives up, and leaves the node to no other
//	Held      Parked   a release keeps the node, by the policy of the lease
//	Held      Leaving  a release gives the node back
//	Held      Lost     the session ends or is suspended, another client deletes the
//	                   node or asks for a revocable lock, a leader loses it
//	Parked    Held     a goroutine of this client comes
//	Parked    Leaving  others queue, another client asks for the lock, or the time is over
//	Parked    Lost     as from Held; the seat then leaves at once
//	Lost      Leaving  the last holder has stopped
//	Lost      Kept     a leader stands again with the node after an interruption
//	Lost      Parked   an interruption does not end a minimum hold
//	Leaving   Gone     a server has answered, or the client goes on in the background
//
// Kept and Gone are final. The table says what else is true in each state. The last
// column says what the tracer and the log receive.
//
//	state     contexts         nodes                 the lane             told
//	--------  ---------------  --------------------  -------------------  -----------
//	Queueing  none             queue, or are made    waits for it         the wait
//	Held      alive            exist                 waits, or shares it  the hold
//	Parked    none             exist                 the next one has it  the release
//	Lost      end, with cause  stay for the holders  has another seat     the loss
//	Leaving   ended, released  the deletion is sent  has another seat
//	Kept      ended            the next seat's       none
//	Gone      ended            are, or will be gone  has another seat     the release
//
// A seat that rests for a minimum hold is Parked, and no goroutine gets it.
//
// # The context ends first
//
// A hold's context ends with the first cause, and that decides: a session ends the
// contexts of all its holds before it calls a seat. A seat that is Held may have lost
// its contexts just now, so that code which gives a seat away asks the context, too.
// So each of these races has one outcome:
//
//   - A release and a loss: the first of them is the cause. A release after the loss
//     returns the loss.
//   - A release and a leader that sees the end of the lease's context: the release
//     deletes the node and gets the server's answer. Dissolve waits for that.
//   - The session ends, or another client deletes the node, while a release hands the
//     seat over: before, the next goroutine gets another seat, and the node is deleted
//     as after every loss. After that, its hold is Lost.
//   - Another client asks for the lock while a release hands it over: the same, except that
//     the hold of the next goroutine is asked, and not lost.
//
// # Files
//
// The methods of each type are in the files of its line, and in no other.
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
//	contender                 contender.go, look.go
//	                                                  a node in the queue; its way to the head; a grant
//	                                                  by the deletion of the node ahead
//	Seat                      seat.go, watched.go, release.go
//	                                                  states and loss; the watch of our own nodes; the end
//	reading                   reading.go              readers who join a seat; nil for a seat of one holder
//	parking                   parking.go              a seat that nobody holds; nil without a watch on the queue
//	minimumHold               minimumhold.go          a lock that stays after its release; nil without the option
//	Hold                      hold.go, leaders.go, release.go
//	                                                  one holder's part of a seat, and what its release does
//	Lease                     lease.go, several.go    shares of a hold, and of several
//	Turn                      places.go               the leases of a semaphore
//	contexts of leases        context.go
//	errors                    errors.go               why contexts end, and why an acquire fails
package seat
