// Package follow is the loop of everything that follows the tree: it looks, says
// what it has seen, waits for a change, and looks again, through outages and
// losses of the session. It is to followers what package lockloop is to those
// who queue.
//
//   - [Judge] says what follows an error, for all recipes, and why.
//   - A [Recovery] waits until it is time to try again, logs what lasts, and
//     keeps the last error for those who wait for something else.
//   - [Resolve] makes a write, and finds out what has become of it if the reply is
//     lost.
//   - A [Loop] looks again and again, in one session after the other.
//   - [Each] is a Loop whose results an iterator yields.
//   - [Reads] read many nodes with few requests.
//   - A [Life] is for what is started and ends: it has one goroutine, one end, and
//     one reason for that.
package follow
