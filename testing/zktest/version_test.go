package zktest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionsAreReadAndWritten(t *testing.T) {
	for _, v := range []Version{Version393, Version384, Version380, Version3510} {
		text, err := v.MarshalText()
		require.NoError(t, err)
		var back Version
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, v, back)
		srv, err := Run(WithVersion(v))
		require.NoError(t, err)
		require.NoError(t, srv.Close())
	}
	var v Version
	require.ErrorContains(t, v.UnmarshalText([]byte("3.7.1")), `"3.7.1", but as [3.9.3 3.8.4 3.8.0 3.5.10]`)
	_, err := Run(WithVersion(77))
	require.ErrorContains(t, err, "Version(77)")
}
