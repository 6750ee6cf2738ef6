package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// newFlagSet returns a set that is parsed by parse, which writes nothing.
func newFlagSet(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs
}

// alias gives a flag another name, as a rule a long one.
func alias(fs *flag.FlagSet, name, other string) {
	f := fs.Lookup(name)
	fs.Var(f.Value, other, f.Usage)
}

// seconds defines a flag whose value is a duration, or a number of seconds as
// flock(1) has it.
func seconds(fs *flag.FlagSet, name string, value time.Duration, usage string) *time.Duration {
	d := value
	fs.Var((*secondsValue)(&d), name, usage)
	return &d
}

type secondsValue time.Duration

func (v *secondsValue) String() string { return time.Duration(*v).String() }

func (v *secondsValue) Set(s string) error {
	d, err := parseSeconds(s)
	if err != nil {
		return err
	}
	*v = secondsValue(d)
	return nil
}

// parseSeconds reads "90", "0.5", "1m30s" and the like.
func parseSeconds(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if n, numErr := strconv.ParseFloat(s, 64); numErr == nil {
		d, err = time.Duration(n*float64(time.Second)), nil
		if math.IsNaN(n) || math.Abs(n) > math.MaxInt64/float64(time.Second) {
			err = strconv.ErrRange
		}
	}
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no duration, such as 90, 0.5 or 1m30s", s)
	}
	return d, nil
}

// number is the value of a flag that has bounds.
type number struct {
	n        *int
	min, max int
}

func (v *number) String() string {
	if v.n == nil {
		return "" // package flag asks a zero value
	}
	return strconv.Itoa(*v.n)
}

func (v *number) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < v.min || n > v.max {
		return fmt.Errorf("%q is no number from %d to %d", s, v.min, v.max)
	}
	*v.n = n
	return nil
}

// parse reads flags and operands in any order, as getopt does: -x, --long,
// --long=value, -w5 and -xn. After "--", and after the first flagsEnd operands
// if that is positive, everything is an operand.
func parse(fs *flag.FlagSet, args []string, flagsEnd int) (operands []string, err error) {
	for len(args) > 0 {
		arg := args[0]
		switch {
		case arg == "--":
			return append(operands, args[1:]...), nil
		case !strings.HasPrefix(arg, "-") || arg == "-":
			operands, args = append(operands, arg), args[1:]
			if len(operands) == flagsEnd {
				return append(operands, args...), nil
			}
		default:
			if args, err = parseFlag(fs, args); err != nil {
				return nil, err
			}
		}
	}
	return operands, nil
}

// parseFlag sets the flag at the head of args and returns the rest.
func parseFlag(fs *flag.FlagSet, args []string) ([]string, error) {
	arg, args := args[0], args[1:]
	name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	f := fs.Lookup(name)
	if f == nil && !strings.HasPrefix(arg, "--") && len(name) > 1 {
		if f = fs.Lookup(name[:1]); f != nil && isSwitch(f) {
			args = append([]string{"-" + arg[2:]}, args...)
		} else if f != nil {
			value, hasValue = arg[2:], true
		}
	}
	switch {
	case f == nil && (name == "h" || name == "help"):
		return nil, flag.ErrHelp
	case f == nil:
		return nil, usagef("unknown flag %s%s", arg, didYouMean("--"+name, longNames(fs)))
	case hasValue:
	case isSwitch(f):
		value = "true"
	case len(args) == 0:
		return nil, usagef("flag %s needs a value", arg)
	default:
		value, args = args[0], args[1:]
	}
	if err := fs.Set(f.Name, value); err != nil {
		return nil, usagef("flag %s: %w", arg, err)
	}
	return args, nil
}

// longNames returns the names of flags that are words, as they are typed.
func longNames(fs *flag.FlagSet) (names []string) {
	fs.VisitAll(func(f *flag.Flag) {
		if len(f.Name) > 1 {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}

// isSwitch reports whether a flag takes no value.
func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}
