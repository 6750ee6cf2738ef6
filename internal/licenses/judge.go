package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/licensecheck"
)

// allowed has the SPDX names of the licenses that a dependency may have. They
// ask for a notice at most, so that a program with any license may contain the
// dependency.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT", "Unlicense"}

// named has the beginnings of further SPDX names. An error can name these
// licenses. All others are unknown text: the scanner for all 551 licenses that
// licensecheck knows takes two seconds to build.
var named = []string{"AGPL-", "GPL-", "LGPL-", "MPL-"}

// scanner recognizes what is allowed or named.
var scanner = sync.OnceValues(func() (*licensecheck.Scanner, error) {
	return licensecheck.NewScanner(slices.DeleteFunc(licensecheck.BuiltinLicenses(), func(l licensecheck.License) bool {
		isOf := func(beginning string) bool { return strings.HasPrefix(l.ID, beginning) }
		return !slices.Contains(allowed, l.ID) && !slices.ContainsFunc(named, isOf)
	}))
})

// leastCoverage is the part of a license file, in percent, that must be the
// text of known licenses. The rest is names and years.
const leastCoverage = 75

// judge returns the names of the licenses in the text of a license file, and an
// error if one of them is not allowed, or if too much of the text is unknown.
func judge(text []byte) (names []string, err error) {
	if names, read := readByPeople[hashOf(text)]; read {
		return names, nil
	}
	known, err := scanner()
	if err != nil {
		return nil, err
	}
	coverage := known.Scan(text)
	var problems []error
	for _, match := range coverage.Match {
		if slices.Contains(names, match.ID) {
			continue
		}
		names = append(names, match.ID)
		if !slices.Contains(allowed, match.ID) {
			problems = append(problems, fmt.Errorf("%s is not one of %v", match.ID, allowed))
		}
	}
	if coverage.Percent < leastCoverage {
		problems = append(problems, fmt.Errorf("only %.0f %% of the text is a license that is known", coverage.Percent))
	}
	return names, errors.Join(problems...)
}
