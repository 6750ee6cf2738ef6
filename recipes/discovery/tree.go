package discovery

import (
	"fmt"
	"strings"

	"github.com/gocurator/curator/framework"
)

// plainTree has the instances of a service right below the name of the service.
type plainTree struct{}

func (plainTree) Dir(service string) (string, error) {
	dir := "/" + strings.TrimPrefix(service, "/")
	err := framework.ValidatePath(dir)
	if dir == "/" {
		err = framework.ValidatePath("")
	}
	if err != nil {
		return "", fmt.Errorf("service %s: %w", excerpt(service), err)
	}
	return dir, nil
}

func (plainTree) Service(dir string) (string, bool) {
	service, ok := strings.CutPrefix(dir, "/")
	return service, ok && service != ""
}
