// Package start has the programs of docs/START.md that find each other: one serves,
// the other one calls. Both are in test files, because a reader copies them.
package start
