// Package order decides who is admitted to a lock: which children of its path are
// contenders, how they are ordered, and for whom each must wait. The package is pure: it
// makes no requests.
package order
