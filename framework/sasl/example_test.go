package sasl_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/testing/zktest"
)

// A client with the right password connects. A client with a wrong one fails at once.
func Example() {
	srv, err := zktest.Run(zktest.WithSASLUser("shop", "secret"))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	ctx := context.Background()
	for _, password := range []string{"secret", "guess"} {
		client, err := framework.Connect(ctx, srv.Addr(),
			framework.WithDialer(srv.Dialer()), // a service needs no such option
			framework.WithSASL(sasl.DigestMD5("shop", password)))
		var refused *sasl.Error
		if errors.As(err, &refused) {
			fmt.Println(refused.Mechanism, "refused", refused.Principal)
			continue
		}
		if err != nil {
			panic(err)
		}
		fmt.Println(client.State(), client.Close())
	}
	// Output:
	// Connected <nil>
	// DIGEST-MD5 refused shop
}
