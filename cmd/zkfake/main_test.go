package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gocurator/curator/internal/leaktest"
)

// beProgram lets the test binary be the program itself. Tests with the tag real set
// it.
var beProgram func()

func TestMain(m *testing.M) {
	if beProgram != nil {
		beProgram()
	}
	leaktest.Main(m)
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"unknown flag":  {[]string{"-x"}, badInput, "not defined: -x"},
		"an argument":   {[]string{"2181"}, badInput, `unexpected argument "2181"`},
		"negative tick": {[]string{"-tick", "-1s"}, badInput, "must not be negative"},
		"old version":   {[]string{"-version", "3.5.10"}, badInput, "must be 3.9.3 or 3.8.0"},
		"sessions":      {[]string{"-minsession", "2s", "-maxsession", "1s"}, badInput, "in this order"},
		"no container":  {[]string{"-containercheck", "0"}, badInput, "at least 1ms"},
		"no password":   {[]string{"-sasl-user", "joe"}, badInput, "give both"},
		"empty file":    {[]string{"-sasl-user", "joe", "-sasl-password-file", os.DevNull}, badInput, "give both"},
		"no file":       {[]string{"-sasl-user", "joe", "-sasl-password-file", "/nowhere"}, badInput, "open /nowhere"},
		"no SASL user":  {[]string{"-sasl-password-file", "main_test.go"}, badInput, "give both"},
		"no address":    {[]string{"-listen", "nonsense"}, cannotListen, "missing port"},
		"help":          {[]string{"-h"}, done, "Usage: zkfake"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			require.Equal(t, tc.status, run(t.Context(), tc.args, &stdout, &stderr))
			require.Empty(t, stdout.String())
			require.Contains(t, stderr.String(), tc.says)
		})
	}
}

func TestSASLUserIsServed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte("open sesame\r\nno part of it\n"), 0o600))
	s, err := parse([]string{"-sasl-user", "joe", "-sasl-password-file", file}, nil)
	require.NoError(t, err)
	require.Equal(t, "open sesame", s.saslPassword)
	without, err := parse(nil, nil)
	require.NoError(t, err)
	require.Len(t, s.options(), len(without.options())+1)
}
