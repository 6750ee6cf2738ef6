// Package columns writes rows of text in aligned columns. It writes before all rows are
// known, so a list of any length needs the memory of only one block of rows.
package columns
