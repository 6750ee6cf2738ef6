package main

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gocurator/curator/testing/zktest"
)

// parseSession reads a session's id as clients print it: signed or unsigned, in
// decimal or with 0x.
func parseSession(s string) (int64, error) {
	if id, err := strconv.ParseInt(s, 0, 64); err == nil {
		return id, nil
	}
	id, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		return 0, badRequest("session %q: not a number", s)
	}
	return int64(id), nil //nolint:gosec // a session id has 64 bits, with or without a sign
}

// onlyParameters returns an error unless every parameter of the request can be read and
// has one of the names: an action with a misspelt parameter would otherwise act on
// every member. Only member may be given more than once.
func onlyParameters(r *http.Request, names ...string) error {
	if r.ContentLength != 0 {
		return badRequest("parameters belong into the URL; a body is not read")
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badRequest("parameters: %v", err)
	}
	for name, values := range query {
		switch {
		case !slices.Contains(names, name):
			return badRequest("unknown parameter %q", name)
		case len(values) > 1 && name != "member":
			return badRequest("parameter %q is there %d times", name, len(values))
		case slices.Contains(values, ""):
			return badRequest("parameter %q is empty", name)
		}
	}
	return nil
}

// members returns the servers that a request names, or all of them.
func (c *control) members(r *http.Request) ([]*zktest.Server, error) {
	if err := onlyParameters(r, "member"); err != nil {
		return nil, err
	}
	named := r.URL.Query()["member"]
	if len(named) == 0 {
		return c.servers.all, nil
	}
	var servers []*zktest.Server
	for _, s := range named {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, badRequest("member %q: not a number; several are ?member=1&member=2", s)
		}
		if n < 1 || n > len(c.servers.all) {
			return nil, notFound("member %d: there are %d", n, len(c.servers.all))
		}
		servers = append(servers, c.servers.all[n-1])
	}
	return servers, nil
}

// numbers reads parameters that are numbers. It keeps the first error.
type numbers struct {
	query url.Values
	err   error
}

func (n *numbers) parse(name string, read func(string) error) {
	if s := n.query.Get(name); s != "" && n.err == nil {
		if err := read(s); err != nil {
			if cause := errors.Unwrap(err); cause != nil {
				err = cause // strconv's text would name its function
			}
			n.err = badRequest("%s=%s: %v", name, s, err)
		}
	}
}

func (n *numbers) duration(name string, otherwise time.Duration) time.Duration {
	d := otherwise
	n.parse(name, func(s string) (err error) {
		d, err = time.ParseDuration(s)
		if err == nil && d <= 0 {
			err = strconv.ErrRange
		}
		return err
	})
	return d
}

func (n *numbers) chance(name string) float64 {
	var p float64
	n.parse(name, func(s string) (err error) {
		p, err = strconv.ParseFloat(s, 64)
		if err == nil && (p < 0 || p > 1 || p != p) {
			err = strconv.ErrRange
		}
		return err
	})
	return p
}

func (n *numbers) seed() uint64 {
	var seed uint64
	n.parse("seed", func(s string) (err error) {
		seed, err = strconv.ParseUint(s, 0, 64)
		return err
	})
	return seed
}

func (n *numbers) limit(otherwise int) int {
	limit := otherwise
	n.parse("limit", func(s string) (err error) {
		limit, err = strconv.Atoi(s)
		if err == nil && limit < 0 {
			err = strconv.ErrRange
		}
		return err
	})
	return limit
}

// after is the number of a request that the caller has seen.
func (n *numbers) after() int64 {
	var number int64
	n.parse("after", func(s string) (err error) {
		number, err = strconv.ParseInt(s, 10, 64)
		return err
	})
	return number
}
