// Package fencegrpc makes gRPC services refuse calls from a process that has lost its
// lock without noticing. Package fencehttp does the same for HTTP. The documentation of
// [fence.Incoming] says what is not fenced.
//
// The client's calls carry the fencing token of the lease in their context:
//
//	conn, err := grpc.NewClient(target,
//		grpc.WithChainUnaryInterceptor(fencegrpc.UnaryClient),
//		grpc.WithChainStreamInterceptor(fencegrpc.StreamClient))
//
//	answer, err := client.Withdraw(lease.Context(), request)
//
// The server compares the token with the largest token seen so far:
//
//	lock := func(_ context.Context, method string, request any) string {
//		if w, ok := request.(*pb.WithdrawRequest); ok {
//			return "/locks/accounts/" + w.GetAccount()
//		}
//		return "" // other calls need no token
//	}
//	server := grpc.NewServer(grpc.ChainUnaryInterceptor(fencegrpc.UnaryServer(store, lock)))
//
// StreamServer is for streams. Its function lock gets no request.
//
// # The metadata
//
// The key is "fencing-token". The value has the form of the HTTP header Fencing-Token.
//
// # The answers
//
//	reason                    code
//	FENCING_TOKEN_STALE       FailedPrecondition  a larger token was seen before
//	FENCING_TOKEN_OTHER_LOCK  FailedPrecondition  the token belongs to another lock
//	FENCING_TOKEN_MISSING     FailedPrecondition  the call has no token
//	FENCING_TOKEN_MALFORMED   InvalidArgument     the value is no token, or there are several
//	FENCING_TOKEN_UNCHECKED   Unavailable         the store has failed
//
// The status has a google.rpc.ErrorInfo with the reason, the domain
// "github.com/gocurator/curator", and in the metadata the lock that guards the resource.
// For a stale token, the metadata also has token, owner, newestToken and newestOwner,
// which ErrorOf reads. The status does not contain the error of the store.
package fencegrpc

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gocurator/curator/recipes/fence"
)

const (
	key    = "fencing-token"
	prefix = "FENCING_TOKEN_"
	stale  = prefix + "STALE"
	domain = "github.com/gocurator/curator"
)

// UnaryClient is a grpc.UnaryClientInterceptor that adds the fencing token of the lease
// in the call's context.
//
// In the context of a call that UnaryServer or StreamServer has admitted, UnaryClient
// forwards the caller's token. A call without a lease passes unchanged; a server that
// requires a token refuses such a call. UnaryClient refuses a call under a lease that
// has ended, and the error has the reason.
func UnaryClient(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	ctx, err := outgoing(ctx)
	if err != nil {
		return err
	}
	return invoke(ctx, method, request, reply, conn, opts...)
}

// StreamClient is a grpc.StreamClientInterceptor that does what UnaryClient does, when
// the stream begins.
func StreamClient(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string,
	begin grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	ctx, err := outgoing(ctx)
	if err != nil {
		return nil, err
	}
	return begin(ctx, desc, conn, method, opts...)
}

func outgoing(ctx context.Context) (context.Context, error) {
	text, err := fence.Outgoing(ctx)
	if err != nil || text == "" {
		return ctx, err
	}
	md, _ := metadata.FromOutgoingContext(ctx)
	md = metadata.Join(md)
	md.Set(key, text)
	return metadata.NewOutgoingContext(ctx, md), nil
}

// UnaryServer returns an interceptor that calls the handler for calls whose token the
// store admits, and refuses all others. In the context of the call, fence.FromContext
// finds the lease of the caller.
//
// The function lock returns the path of the lock that guards the object of a call, as
// the holders' clients see that path. The function must not take the path from the
// token. The method is the full name, such as /shop.Orders/Create. If the path is
// empty, the call needs no token and reaches the handler without a check. UnaryServer
// panics if an argument is nil.
func UnaryServer(
	store fence.Store, lock func(ctx context.Context, method string, request any) string,
) grpc.UnaryServerInterceptor {
	mustNotBeNil(store, lock)
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		ctx, err := incoming(ctx, store, lock(ctx, info.FullMethod, request))
		if err != nil {
			return nil, err
		}
		return handle(ctx, request)
	}
}

// StreamServer returns an interceptor that does what UnaryServer does, when the stream
// begins. StreamServer does not check the single messages of a stream.
//
// The function lock gets a nil request, because no message has arrived yet. It finds the
// lock by the method, or in the metadata of ctx. A function that looks for the lock in the
// request returns an empty path for each stream, which then has no check.
func StreamServer(
	store fence.Store, lock func(ctx context.Context, method string, request any) string,
) grpc.StreamServerInterceptor {
	mustNotBeNil(store, lock)
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		ctx, err := incoming(stream.Context(), store, lock(stream.Context(), info.FullMethod, nil))
		if err != nil {
			return err
		}
		return handle(server, admitted{stream, ctx})
	}
}

func mustNotBeNil(store fence.Store, lock func(ctx context.Context, method string, request any) string) {
	if store == nil {
		panic("fencegrpc: nil store")
	}
	if lock == nil {
		panic("fencegrpc: nil lock function")
	}
}

// admitted is a stream whose context has the caller's lease.
type admitted struct {
	grpc.ServerStream
	ctx context.Context
}

func (s admitted) Context() context.Context { return s.ctx }

// statuses are the codes for each reason of fence.Reason, except "".
var statuses = map[string]codes.Code{
	"stale":      codes.FailedPrecondition,
	"other_lock": codes.FailedPrecondition,
	"missing":    codes.FailedPrecondition,
	"malformed":  codes.InvalidArgument,
}

func incoming(ctx context.Context, store fence.Store, lock string) (context.Context, error) {
	if lock == "" {
		return ctx, nil
	}
	admitted, err := fence.Incoming(ctx, store, lock, metadata.ValueFromIncomingContext(ctx, key))
	if err == nil {
		return admitted, nil
	}
	code, text, info := codes.Unavailable, "the store of fencing tokens has failed", &errdetails.ErrorInfo{
		Domain: domain, Reason: prefix + "UNCHECKED", Metadata: map[string]string{},
	}
	if reason := fence.Reason(err); reason != "" {
		code, text, info.Reason = statuses[reason], err.Error(), prefix+strings.ToUpper(reason)
		var why *fence.StaleError
		if reason == "stale" { // the store may have wrapped the error
			text = fence.ErrStale.Error()
		}
		if errors.As(err, &why) { //nolint:forbidigo // Reason has ruled out a context's cause
			text = why.Error()
			fields, _ := json.Marshal(why)
			_ = json.Unmarshal(fields, &info.Metadata) // all of them are strings
		}
	}
	info.Metadata["lock"] = asText(lock)
	refused, err := status.New(code, asText(text)).WithDetails(info)
	if err != nil {
		return nil, err
	}
	return nil, refused.Err()
}

// asText returns a string that a message can hold. gRPC sends no details that hold other bytes.
func asText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// ErrorOf returns a *fence.StaleError if a call has failed because its token is stale,
// and nil for any other error. If the service has returned the error of a call that the
// service made under its own lease, the Owner is the path of that lease.
func ErrorOf(err error) error {
	for _, detail := range status.Convert(err).Details() {
		info, ok := detail.(*errdetails.ErrorInfo)
		if !ok || info.GetDomain() != domain || info.GetReason() != stale {
			continue
		}
		fields, _ := json.Marshal(info.GetMetadata())
		why := &fence.StaleError{}
		_ = json.Unmarshal(fields, why) // a server of another version may have other fields
		return why
	}
	return nil
}
