// Package wire is ZooKeeper's wire format: the primitives of Jute, frames, the
// numbers of requests and errors, and the records that requests and answers are
// made of. It keeps no state.
package wire
