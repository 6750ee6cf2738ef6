package fencegrpc_test

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/gocurator/curator/contrib/fencegrpc"
	"github.com/gocurator/curator/recipes/fence"
)

// These are what README tells people to write.
var _, _, _ = newClient, newServer, staleOf

func newClient(target string, creds credentials.TransportCredentials) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient(target,
		grpc.WithChainUnaryInterceptor(fencegrpc.UnaryClient),
		grpc.WithChainStreamInterceptor(fencegrpc.StreamClient),
		grpc.WithTransportCredentials(creds))
	return conn, err
}

func newServer(store fence.Store) *grpc.Server {
	lock := func(_ context.Context, method string, request any) string {
		if account, ok := request.(interface{ GetAccount() string }); ok {
			return "/locks/accounts/" + account.GetAccount()
		}
		return "" // other calls need no token
	}
	streamLock := func(_ context.Context, method string, _ any) string { // a stream has no request yet
		if method == "/bank.Ledger/Import" {
			return "/locks/ledger"
		}
		return ""
	}
	server := grpc.NewServer(
		grpc.ChainUnaryInterceptor(fencegrpc.UnaryServer(store, lock)),
		grpc.ChainStreamInterceptor(fencegrpc.StreamServer(store, streamLock)))
	return server
}

func staleOf(err error) error {
	if stale := fencegrpc.ErrorOf(err); stale != nil {
		return stale // matches fence.ErrStale: another process has the lock
	}
	return err
}
