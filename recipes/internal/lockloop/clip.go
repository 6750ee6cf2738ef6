package lockloop

import "bytes"

// MaxData is how much of another contender's data is kept, in bytes. Anybody
// who may create nodes can put a megabyte into one.
const MaxData = 4 << 10

// Clip returns no more than MaxData of a node's data, in memory of its own if
// it was more.
func Clip(data []byte) []byte {
	if len(data) <= MaxData {
		return data
	}
	return bytes.Clone(data[:MaxData])
}
