package cli

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLine(t *testing.T) {
	for name, tc := range map[string]struct {
		flagsEnd           int
		args, operands     string
		n, s               bool
		wait               time.Duration
		servers, errorSays string
	}{
		"nothing":                {},
		"flags first":            {args: "-n -w 5 /p", operands: "/p", n: true, wait: 5 * time.Second},
		"flags behind":           {args: "/p -n -w 1m", operands: "/p", n: true, wait: time.Minute},
		"long":                   {args: "--nonblock --wait=0.5 /p", operands: "/p", n: true, wait: time.Second / 2},
		"cluster":                {args: "-ns /p", operands: "/p", n: true, s: true},
		"cluster with a value":   {args: "-nw5 /p", operands: "/p", n: true, wait: 5 * time.Second},
		"value with equals":      {args: "-S=a=b", servers: "a=b"},
		"a dash is an operand":   {args: "- -n", operands: "-", n: true},
		"dashes end the flags":   {args: "/p -- -n --", operands: "/p -n --"},
		"a value of dashes":      {args: "-S -- /p", operands: "/p", servers: "--"},
		"the command's flags":    {flagsEnd: 2, args: "/p -n ls -s -- -w", operands: "/p ls -s -- -w", n: true},
		"dashes and the command": {flagsEnd: 2, args: "/p -- -n -s", operands: "/p -n -s"},
		"the last one counts":    {args: "-w 5 -w 6 /p", operands: "/p", wait: 6 * time.Second},
		"dashes of the command":  {flagsEnd: 2, args: "/p ls -- -n", operands: "/p ls -- -n"},
		"a switch that is off":   {args: "-n=false /p", operands: "/p"},
		"unknown":                {args: "--nope", errorSays: "unknown flag --nope"},
		"unknown in a cluster":   {args: "-nq", errorSays: "unknown flag -q"},
		"a dash in a cluster":    {args: "-n-", errorSays: "unknown flag --"},
		"no long cluster":        {args: "--ns", errorSays: "unknown flag --ns"},
		"value is missing":       {args: "-w", errorSays: "flag -w needs a value"},
		"value is bad":           {args: "-w soon", errorSays: `flag -w: "soon" is not a duration`},
		"value is negative":      {args: "-w -1", errorSays: `"-1" is not a duration`},
		"value is too large":     {args: "-w 1e300", errorSays: `"1e300" is not a duration`},
		"value is not a number":  {args: "-w NaN", errorSays: `"NaN" is not a duration`},
		"help":                   {args: "-n --help", errorSays: flag.ErrHelp.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			fs := &flag.FlagSet{}
			n := fs.Bool("n", false, "")
			Alias(fs, "n", "nonblock")
			wait := Seconds(fs, "w", -1, "")
			Alias(fs, "w", "wait")
			shared := fs.Bool("s", false, "")
			servers := fs.String("S", "", "")
			l := &line{flags: fs, flagsEnd: tc.flagsEnd}
			err := l.readAll(strings.Fields(tc.args))
			if tc.errorSays != "" {
				require.ErrorContains(t, err, tc.errorSays)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.operands, strings.Join(l.operands, " "))
			require.Equal(t, tc.n, *n)
			require.Equal(t, tc.s, *shared)
			require.Equal(t, tc.servers, *servers)
			if tc.wait == 0 {
				tc.wait = -1 // for ever
			}
			require.Equal(t, tc.wait, *wait)
		})
	}
}
