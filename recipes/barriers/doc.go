// Package barriers holds processes up until something is the case: until
// somebody lowers a barrier, or until enough of them have come together.
package barriers
