// Package moving has the code of docs/MIGRATING.md and docs/FAQ.md: each function is in one of
// them, and a test runs it.
package moving
