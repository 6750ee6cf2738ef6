package certmagic

import "github.com/gocurator/curator/framework"

// These are codes of servers' answers: see framework.ServerCode.
const (
	noNode     = -101
	nodeExists = -110
	notEmpty   = -111
)

// code returns the code of the server's answer that caused an error, or 0. An error of
// the user's own code, such as a dialer that asks other servers, has the code 0.
func code(err error) int32 {
	code, _ := framework.ServerCode(err)
	return code
}
