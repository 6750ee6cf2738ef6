package framework

import "context"

// Connect returns a client that has a connection and a session. It is New
// followed by Client.WaitConnected: a service that starts with Connect knows
// that its ensemble was there. The parameters are those of New.
//
//	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
//	defer cancel()
//	client, err := framework.Connect(ctx, "zk1:2181,zk2:2181,zk3:2181/shop")
//	if err != nil {
//		return err // says why the last attempt failed
//	}
//	defer client.Close()
//
// The context bounds the wait and nothing else: the client lives until Close.
// Without a deadline, Connect waits as long as no server answers.
//
// An error is one of these:
//
//   - A *ConfigError, at once and without an attempt: the connection string or
//     an option cannot be used.
//   - An *OpError that matches ErrNotConnected and ctx.Err(): ctx has ended.
//     The error says why the last attempt failed, in a form that errors.Is
//     finds, such as syscall.ECONNREFUSED.
//   - An *OpError that matches zk.ErrAuthFailed, as soon as the servers have
//     refused the credentials: waiting does not help then.
//
// In each case the client is nil, and Connect has closed what it started, which
// takes a second at most: no goroutine and no connection is left. A session
// that was granted by then is ended, as by Client.Close. One case remains: if
// the grant was still on its way when ctx ended, the client does not know the
// session. It has no nodes, and the server ends it when it times out.
func Connect(ctx context.Context, connectString string, opts ...Option) (*Client, error) {
	c, err := New(connectString, opts...)
	if err != nil {
		return nil, err
	}
	if err := c.WaitConnected(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}
