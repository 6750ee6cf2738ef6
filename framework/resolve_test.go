package framework

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// nameServer answers lookups: a missing name does not exist, and one without
// addresses does not answer.
type nameServer map[string][]string

func (z nameServer) lookup(ctx context.Context, host string) ([]string, error) {
	addresses, ok := z[host]
	if !ok {
		return nil, fmt.Errorf("lookup %s: no such host", host)
	}
	if addresses == nil {
		<-ctx.Done()
		return nil, fmt.Errorf("lookup %s: %w", host, ctx.Err())
	}
	return addresses, nil
}

func TestResolveDNS(t *testing.T) {
	z := nameServer{"headless": {"10.0.0.1", "10.0.0.2", "fd00::1"}, "one": {"10.0.0.9"}, "hangs": nil, "empty": {}}
	for name, tc := range map[string]struct {
		names []string
		want  []string
		fault []string // parts of the error's text
	}{
		"every address of a name":     {names: []string{"headless:2182"}, want: []string{"10.0.0.1:2182", "10.0.0.2:2182", "[fd00::1]:2182"}},
		"names and ports":             {names: []string{"one:1", " one "}, want: []string{"10.0.0.9:1", "10.0.0.9:2181"}},
		"a dead name is left out":     {names: []string{"gone", "one"}, want: []string{"10.0.0.9:2181"}},
		"so is one without addresses": {names: []string{"empty", "one"}, want: []string{"10.0.0.9:2181"}},
		"so is one that hangs":        {names: []string{"hangs", "one"}, want: []string{"10.0.0.9:2181"}},
		"all dead":                    {names: []string{"gone", "hangs", "empty"}, fault: []string{"lookup gone: no such host", "lookup hangs: context deadline exceeded", "lookup empty: no addresses"}},
		"no names":                    {fault: []string{"must not be empty"}},
		"not a name":                  {names: []string{"one", "a b"}, fault: []string{`invalid server "a b"`}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				got, err := resolve(z.lookup, tc.names)(ctx)
				require.Equal(t, tc.want, got)
				for _, text := range tc.fault {
					require.ErrorContains(t, err, text)
				}
				require.Equal(t, tc.fault != nil, err != nil)
			})
		})
	}
}

func TestNamesAreLookedUpEachTime(t *testing.T) {
	z := nameServer{"headless": {"10.0.0.1"}}
	ask := resolve(z.lookup, []string{"headless"})
	first, err := ask(t.Context())
	require.NoError(t, err)
	z["headless"] = []string{"10.0.0.2"}
	second, err := ask(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"10.0.0.1:2181", "10.0.0.2:2181"}, append(first, second...))
	delete(z, "headless")
	_, err = ask(t.Context())
	require.Error(t, err)
}

func TestServersThatCannotBeUsedAreConfigErrors(t *testing.T) {
	for _, list := range [][]string{nil, {}, {""}, {"a", ""}, {"a:b:c"}, {"a:0"}, {"a/chroot"}, {"a b"}} {
		e := newServerList([]string{"known:2181"}, func(context.Context) ([]string, error) { return list, nil })
		err := e.refresh(t.Context())
		var ce *ConfigError
		require.ErrorAs(t, err, &ce, "%q", list)
		require.Equal(t, err, e.problem())
		require.Equal(t, []string{"known:2181"}, e.servers())
	}
	e := newServerList([]string{"known:2181"}, func(context.Context) ([]string, error) { return []string{"a", "b"}, errors.New("half") })
	require.EqualError(t, e.refresh(t.Context()), "half")
	require.Equal(t, []string{"known:2181"}, e.servers(), "an answer with an error is no answer")
}
