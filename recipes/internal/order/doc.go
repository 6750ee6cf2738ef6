// Package order says who is admitted to a lock: which children of its path are
// contenders, in which order they stand, and whom each has to wait for. All of it
// is pure: nothing here makes a request.
package order
