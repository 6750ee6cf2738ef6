// Package view turns the results of package inspect into output for people and
// programs: rows of tables and JSON lines. It is pure: it uses no server, no clock and
// no terminal.
//
// In JSON, times are in RFC 3339. A duration is a number of seconds, and its name ends
// with "_seconds". A field that is also a span attribute has the attribute's name,
// without "curator." and "curator.lock.", and with "_" instead of ".". JSON has
// unchanged names of nodes and owners; tables escape names that cannot be printed.
package view
