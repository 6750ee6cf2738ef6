package discovery

import "strconv"

// Kind says how long an instance's node lives: Java's ServiceType.
type Kind int

// The kinds, by Java's numbers.
const (
	Dynamic           Kind = iota // ephemeral; it is the default
	Static                        // persistent
	Permanent                     // persistent
	DynamicSequential             // ephemeral and sequential
)

var kinds = []string{"DYNAMIC", "STATIC", "PERMANENT", "DYNAMIC_SEQUENTIAL"}

// String returns Java's name of the kind, such as DYNAMIC.
func (k Kind) String() string {
	if k >= 0 && int(k) < len(kinds) {
		return kinds[k]
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}
