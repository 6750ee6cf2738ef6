package certmagic

// dataOf returns the data of the node of a key with this value. The data is never
// empty.
func dataOf(value []byte) []byte {
	if len(value) > 0 && value[0] != 0 {
		return value
	}
	return append([]byte{0}, value...)
}

// valueOf reverses dataOf. If the data is empty, ok is false.
func valueOf(data []byte) (value []byte, ok bool) {
	switch {
	case len(data) == 0:
		return nil, false
	case data[0] == 0:
		return data[1:], true
	}
	return data, true
}
