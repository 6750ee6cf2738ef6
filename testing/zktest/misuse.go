package zktest

import "fmt"

// TB is the part of [testing.TB] that this package uses. It is an interface of
// its own so that a program which embeds a server does not link package
// testing.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// refuser is told of arguments that make no sense.
type refuser struct {
	tb TB // the test that the servers belong to, or nil
}

// invalidPath is misuse of a path. What cannot be the path of a node would look
// like a node that does not exist.
func (r refuser) invalidPath(path string) error {
	if r.tb != nil {
		r.tb.Helper()
	}
	return r.refuse(invalidPath(path))
}

func invalidPath(path string) error {
	return fmt.Errorf("zktest: invalid path %q, where a node's begins with a slash and does not end in one", path)
}

// misuse is what becomes of arguments that make no sense. It fails the test of
// the servers, if they have one, and returns the error.
func (r refuser) misuse(format string, args ...any) error {
	if r.tb != nil {
		r.tb.Helper()
	}
	return r.refuse(fmt.Errorf("zktest: "+format, args...))
}

func (r refuser) refuse(err error) error {
	if r.tb != nil {
		r.tb.Helper()
		r.tb.Fatalf("%v", err)
	}
	return err
}
