// Package locktest has helpers for tests of code that uses locks: pending acquires,
// tracers, and user functions that do not return. It is separate from recipetest,
// because tests of the packages below locks use recipetest, which therefore must not
// import locks.
package locktest
