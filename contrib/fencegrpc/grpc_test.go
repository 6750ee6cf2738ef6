package fencegrpc_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gocurator/curator/contrib/fencegrpc"
	"github.com/gocurator/curator/internal/locktest"
	"github.com/gocurator/curator/internal/recipetest"
	"github.com/gocurator/curator/recipes/fence"
	"github.com/gocurator/curator/recipes/locks"
)

func TestMain(m *testing.M) { recipetest.Main(m) }

// writer writes a value that a call has. The context is the server's.
type writer func(ctx context.Context, value string) error

// desc is a service that writes, with a call and with a stream. It needs no generated code.
var desc = grpc.ServiceDesc{
	ServiceName: "test.Register", HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Write", Handler: func(
		s any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor,
	) (any, error) {
		var value wrapperspb.StringValue
		if err := decode(&value); err != nil {
			return nil, err
		}
		handle := func(ctx context.Context, request any) (any, error) {
			return &wrapperspb.StringValue{}, s.(writer)(ctx, request.(*wrapperspb.StringValue).GetValue())
		}
		return intercept(ctx, &value, &grpc.UnaryServerInfo{Server: s, FullMethod: "/test.Register/Write"}, handle)
	}}},
	Streams: []grpc.StreamDesc{{StreamName: "Stream", ClientStreams: true, Handler: func(s any, stream grpc.ServerStream) error {
		var value wrapperspb.StringValue
		if err := stream.RecvMsg(&value); err != nil {
			return err
		}
		if err := s.(writer)(stream.Context(), value.GetValue()); err != nil {
			return err
		}
		return stream.SendMsg(&value)
	}}},
}

// serve returns a channel to a server that checks tokens in a store.
func serve(t *testing.T, store fence.Store, lock func(ctx context.Context, method string, request any) string, write writer) *grpc.ClientConn {
	t.Helper()
	listener := bufconn.Listen(1 << 16)
	server := grpc.NewServer(
		grpc.ChainUnaryInterceptor(fencegrpc.UnaryServer(store, lock)), grpc.ChainStreamInterceptor(fencegrpc.StreamServer(store, lock)))
	server.RegisterService(&desc, write)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient("passthrough:register", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithChainUnaryInterceptor(fencegrpc.UnaryClient), grpc.WithChainStreamInterceptor(fencegrpc.StreamClient))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

func lockOf(context.Context, string, any) string { return "/lock" }

// ways are the two ways to write.
var ways = map[string]func(ctx context.Context, conn *grpc.ClientConn, value string) error{
	"call": func(ctx context.Context, conn *grpc.ClientConn, value string) error {
		return conn.Invoke(ctx, "/test.Register/Write", wrapperspb.String(value), &wrapperspb.StringValue{})
	},
	"stream": func(ctx context.Context, conn *grpc.ClientConn, value string) error {
		stream, err := conn.NewStream(ctx, &desc.Streams[0], "/test.Register/Stream")
		if err != nil {
			return err
		}
		if err := stream.SendMsg(wrapperspb.String(value)); err != nil {
			return stream.RecvMsg(&wrapperspb.StringValue{}) // it says why
		}
		if err := stream.CloseSend(); err != nil {
			return err
		}
		return stream.RecvMsg(&wrapperspb.StringValue{})
	},
}

// infoOf returns the machine-readable part of an error.
func infoOf(t *testing.T, err error) *errdetails.ErrorInfo {
	t.Helper()
	details := status.Convert(err).Details()
	require.Len(t, details, 1, "%v", err)
	return details[0].(*errdetails.ErrorInfo)
}

// Promise: a service refuses the call of a holder whose successor has made a call there.
func TestStaleCallIsRefused(t *testing.T) {
	for name, write := range ways {
		t.Run(name, func(t *testing.T) {
			recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
				first, network := w.Connect(t)
				second, _ := w.Connect(t)
				var written string
				conn := serve(t, &fence.Guard{}, lockOf, func(_ context.Context, value string) error { written = value; return nil })
				stopped := locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(first, "/lock"))
				require.NoError(t, write(stopped.Context(), conn, "first"))

				late := delayed(t, stopped)
				network.Isolate()
				next := locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(second, "/lock"))
				require.NoError(t, write(next.Context(), conn, "second"))

				err := write(late, conn, "late")
				require.Equal(t, codes.FailedPrecondition, status.Code(err))
				want := &fence.StaleError{Token: stopped.FencingToken(), Owner: stopped.Path(), NewestToken: next.FencingToken(), NewestOwner: next.Path()}
				require.Equal(t, want, fencegrpc.ErrorOf(fmt.Errorf("write: %w", err)))
				require.ErrorContains(t, err, want.Error())
				info := infoOf(t, err)
				require.Equal(t, "FENCING_TOKEN_STALE", info.GetReason())
				require.Equal(t, "github.com/gocurator/curator", info.GetDomain())
				require.Equal(t, map[string]string{
					"lock": "/lock", "token": fmt.Sprint(want.Token), "owner": want.Owner,
					"newestToken": fmt.Sprint(want.NewestToken), "newestOwner": want.NewestOwner,
				}, info.GetMetadata())
				require.Equal(t, "second", written)
			})
		})
	}
}

// delayed is the context of a call that has left the client, and is still on its way.
func delayed(t *testing.T, lease *locks.Lease) context.Context {
	text, err := fence.Outgoing(lease.Context())
	require.NoError(t, err)
	return metadata.AppendToOutgoingContext(t.Context(), "fencing-token", text)
}

// storeFunc is a Store whose Raise is the function.
type storeFunc func(ctx context.Context, resource string, lease fence.Lease) error

func (f storeFunc) Raise(ctx context.Context, resource string, lease fence.Lease) error {
	return f(ctx, resource, lease)
}

// Promise: a service that wants a token does not handle a call without one, with a
// malformed one, or with the token of another lock, or if the store has failed.
func TestAnswers(t *testing.T) {
	var guard fence.Guard
	broken := storeFunc(func(context.Context, string, fence.Lease) error { return errors.New("password=secret") })
	for name, c := range map[string]struct {
		store  fence.Store
		tokens []string
		code   codes.Code
		reason string
	}{
		"admitted":     {&guard, []string{"7 /lock/a"}, codes.OK, ""},
		"missing":      {&guard, nil, codes.FailedPrecondition, "FENCING_TOKEN_MISSING"},
		"malformed":    {&guard, []string{""}, codes.InvalidArgument, "FENCING_TOKEN_MALFORMED"},
		"two":          {&guard, []string{"7 /lock/a", "8 /lock/b"}, codes.InvalidArgument, "FENCING_TOKEN_MALFORMED"},
		"other lock":   {&guard, []string{"9 /other/a"}, codes.FailedPrecondition, "FENCING_TOKEN_OTHER_LOCK"},
		"broken store": {broken, []string{"7 /lock/a"}, codes.Unavailable, "FENCING_TOKEN_UNCHECKED"},
	} {
		for way, write := range ways {
			t.Run(name+", "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					handled := false
					conn := serve(t, c.store, lockOf, func(context.Context, string) error { handled = true; return nil })
					ctx := metadata.NewOutgoingContext(t.Context(), metadata.MD{"fencing-token": c.tokens})
					err := write(ctx, conn, "")
					require.Equal(t, c.code, status.Code(err), "%v", err)
					require.Equal(t, c.code == codes.OK, handled)
					require.NoError(t, fencegrpc.ErrorOf(err))
					if err != nil {
						require.Equal(t, c.reason, infoOf(t, err).GetReason())
						require.Equal(t, map[string]string{"lock": "/lock"}, infoOf(t, err).GetMetadata())
						require.NotContains(t, err.Error(), "secret")
					}
				})
			})
		}
	}
}

// A store may wrap the error of a stale token in others, whose text the client must not see.
func TestAnswerLeavesOutWhatTheStoreSays(t *testing.T) {
	for _, stale := range []error{fence.ErrStale, &fence.StaleError{Token: 7, NewestToken: 9}} {
		synctest.Test(t, func(t *testing.T) {
			store := storeFunc(func(context.Context, string, fence.Lease) error { return fmt.Errorf("password=secret: %w", stale) })
			conn := serve(t, store, lockOf, func(context.Context, string) error { return nil })
			ctx := metadata.NewOutgoingContext(t.Context(), metadata.Pairs("fencing-token", "7 /lock/a"))
			for _, write := range ways {
				err := write(ctx, conn, "")
				require.Equal(t, codes.FailedPrecondition, status.Code(err))
				require.Equal(t, stale.Error(), status.Convert(err).Message())
			}
		})
	}
}

// A status has text, and a request may hold other bytes.
func TestAnswerAboutALockThatIsNoText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock := func(context.Context, string, any) string { return "/lock/\xff" }
		conn := serve(t, &fence.Guard{}, lock, func(context.Context, string) error { return nil })
		for reason, tokens := range map[string][]string{"FENCING_TOKEN_MISSING": nil, "FENCING_TOKEN_OTHER_LOCK": {"7 /lock/a"}} {
			err := ways["call"](metadata.NewOutgoingContext(t.Context(), metadata.MD{"fencing-token": tokens}), conn, "")
			require.Equal(t, codes.FailedPrecondition, status.Code(err), "%v", err)
			require.Equal(t, reason, infoOf(t, err).GetReason())
			require.Equal(t, "/lock/\uFFFD", infoOf(t, err).GetMetadata()["lock"])
		}
	})
}

func TestServerOfNilPanicsAtOnce(t *testing.T) {
	require.PanicsWithValue(t, "fencegrpc: nil store", func() { fencegrpc.UnaryServer(nil, lockOf) })
	require.PanicsWithValue(t, "fencegrpc: nil store", func() { fencegrpc.StreamServer(nil, lockOf) })
	require.PanicsWithValue(t, "fencegrpc: nil lock function", func() { fencegrpc.UnaryServer(&fence.Guard{}, nil) })
	require.PanicsWithValue(t, "fencegrpc: nil lock function", func() { fencegrpc.StreamServer(&fence.Guard{}, nil) })
}

// Promise: a call without a lease has no token, a call under a lease that has ended is not
// made, and a service that calls another one for its caller forwards the token.
func TestClient(t *testing.T) {
	for name, write := range ways {
		t.Run(name, func(t *testing.T) {
			recipetest.InVirtualTime(t, func(t *testing.T, w *recipetest.World) {
				var tokens, others []string
				none := func(context.Context, string, any) string { return "" }
				store := serve(t, &fence.Guard{}, none, func(ctx context.Context, _ string) error {
					tokens = append(tokens, metadata.ValueFromIncomingContext(ctx, "fencing-token")...)
					others = append(others, metadata.ValueFromIncomingContext(ctx, "other")...)
					return nil
				})
				methods := map[string]string{"/test.Register/Write": "value", "/test.Register/Stream": ""}
				service := serve(t, &fence.Guard{}, func(_ context.Context, method string, request any) string {
					if value, _ := request.(*wrapperspb.StringValue); value.GetValue() != methods[method] {
						t.Errorf("%s has the request %v", method, request)
					}
					return "/lock"
				}, func(ctx context.Context, value string) error {
					return write(metadata.AppendToOutgoingContext(ctx, "other", "kept"), store, value)
				})
				require.NoError(t, write(t.Context(), store, "value"))
				require.Empty(t, tokens)

				c, _ := w.Connect(t)
				lease := locktest.Acquire(t, w.Patience(t), locks.NewInterProcessMutex(c, "/lock"))
				require.NoError(t, write(lease.Context(), service, "value"))
				require.Equal(t, []string{fmt.Sprint(lease.FencingToken(), " ", lease.Path())}, tokens)
				require.Equal(t, []string{"kept"}, others)

				require.NoError(t, lease.Release(t.Context()))
				require.ErrorIs(t, write(context.WithoutCancel(lease.Context()), store, "value"), locks.ErrReleased)
				require.Len(t, tokens, 1)
			})
		})
	}
}

func TestErrorOfOtherErrors(t *testing.T) {
	other, err := status.New(codes.FailedPrecondition, "other").WithDetails(&errdetails.ErrorInfo{Reason: "FENCING_TOKEN_STALE", Domain: "other"})
	require.NoError(t, err)
	for _, err := range []error{nil, errors.New("other"), other.Err()} {
		require.NoError(t, fencegrpc.ErrorOf(err))
	}
}
