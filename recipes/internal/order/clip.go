package order

import "bytes"

// MaxData is how much of another contender's data is kept, in bytes. Every
// client that may create nodes can write a megabyte into one.
const MaxData = 4 << 10

// OwnData is the most data that a node of ours has, in bytes, and more than that of
// most nodes of Java's. It is small because waiters read it.
const OwnData = 1 << 10

// Clip returns no more than MaxData of a node's data. If there was more, the
// result is a copy.
func Clip(data []byte) []byte {
	if len(data) <= MaxData {
		return data
	}
	return bytes.Clone(data[:MaxData])
}
