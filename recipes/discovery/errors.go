package discovery

import (
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/internal/printable"
)

// Match these errors with errors.Is. A value that cannot be used is a
// *framework.ConfigError and matches zk.ErrBadArguments. The name of a service
// that makes no path matches zk.ErrInvalidPath.
var (
	// ErrNotInstance means that a node is no instance, and need not be one: it
	// has no data, as a parent has, or the format gives the instances other
	// names. Codec.Decode returns it.
	ErrNotInstance = errors.New("node is no instance")

	// ErrNoInstance means that a Picker has no instance to pick.
	ErrNoInstance = errors.New("no instance to pick")
)

// invalid returns the error of a value that cannot be used.
func invalid(name string, value any, reason string) error {
	return &framework.ConfigError{Name: name, Value: short(fmt.Sprint(value)), Reason: reason}
}

// excerpt returns the beginning of a stranger's text, safe to show.
func excerpt[T ~string | ~[]byte](text T) string { return printable.String(short(string(text))) }

func short(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return text[:most] + "..."
}
