package certmagic

import "github.com/gocurator/curator/framework"

// These are codes of answers: see framework.ServerCode.
const (
	noNode     = -101
	nodeExists = -110
	notEmpty   = -111
)

// code returns the code of the answer that an error is about, or 0. An error of the
// user's own code, such as a dialer that asks other servers, is none.
func code(err error) int32 {
	code, _ := framework.ServerCode(err)
	return code
}
