// Package locktest has helpers for tests of those who use locks: acquires that are
// under way, tracers, and functions of the user that do not return. It is apart from
// recipetest, so that what locks are made of can be tested with that: a test inside
// a package compiles anew all that imports the package.
package locktest
