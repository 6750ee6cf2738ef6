package order

import "bytes"

// MaxData is how many bytes of another contender's data are kept. A client that may
// create nodes can write a megabyte into one.
const MaxData = 4 << 10

// OwnData is the maximum size of the data of this library's nodes, in bytes. Most nodes
// of Java have less data. The limit is small because waiters read the data.
const OwnData = 1 << 10

// Clip returns at most MaxData bytes of a node's data. If it shortens the data, the
// result is a copy.
func Clip(data []byte) []byte {
	if len(data) <= MaxData {
		return data
	}
	return bytes.Clone(data[:MaxData])
}
