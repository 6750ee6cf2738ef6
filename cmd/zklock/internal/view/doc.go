// Package view turns what package inspect found into what people and programs
// read: rows of tables and JSON lines. It is pure: it knows no server, no
// clock and no terminal.
//
// In JSON, times are in RFC 3339. A duration is a number of seconds, and its
// name ends with "_seconds". What is an attribute of a span, too, has the
// attribute's name, without "curator." and "curator.lock.", and with "_" for
// ".". Names of nodes and owners are strings as they are; tables show them
// escaped, if they cannot be printed.
package view
