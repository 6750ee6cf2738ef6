package explore

// hash is a running FNV-1a hash of 64 bits. The zero value is ready.
type hash uint64

const (
	fnvOffset hash = 14695981039346656037
	fnvPrime  hash = 1099511628211
)

// add adds a text to the hash.
func (h *hash) add(text string) {
	if *h == 0 {
		*h = fnvOffset
	}
	for i := range len(text) {
		*h = (*h ^ hash(text[i])) * fnvPrime
	}
	*h = (*h ^ 0xff) * fnvPrime // the end of the text
}

func (h *hash) addUint(n uint64) {
	var bytes [8]byte
	for i := range bytes {
		bytes[i] = byte(n >> (8 * i))
	}
	h.add(string(bytes[:]))
}
