// Package start has the two programs of docs/START.md that find each other: a server
// and a caller. Both are in test files, because readers copy their text.
package start
