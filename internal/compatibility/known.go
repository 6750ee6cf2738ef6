package main

// known says of tests that fail on some servers what that means. The page shows
// it below the failure.
var known = map[string]string{
	"TestOneHolderWhenTheSequenceIsUsedUp/real": "It expects a server that uses its numbers up. This one goes on counting.",
	"TestLeaderInTheMinority": "It expects a server that misleads clients without strict contact for long enough. " +
		"This one did not.",
}
