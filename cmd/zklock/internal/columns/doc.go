// Package columns writes rows of text in aligned columns. It writes while rows
// still come: a list of any length takes the memory of one block of rows.
package columns
