// Package discovery registers the instances of services, and finds them, as
// Curator's curator-x-discovery does. Go processes can share a registry with Java
// processes that use curator-x-discovery, Spring Cloud or Dubbo.
//
//	r, err := discovery.NewRegistration(client, "/services", discovery.CuratorCodec(), discovery.Instance{
//		Service: "orders", Address: "10.0.0.7", Port: 8080,
//	})
//	if err != nil {
//		return err
//	}
//	defer r.Shutdown(ctx)
//
//	d, err := discovery.NewDirectory(client, "/services", discovery.CuratorCodec(), "orders")
//	if err != nil {
//		return err
//	}
//	defer d.Close()
//	if err := d.WaitInstances(ctx, 1); err != nil {
//		return err
//	}
//	for _, i := range d.Instances() {
//		fmt.Println(i.Address, i.Port)
//	}
//
// # Which one
//
//   - A [Registration] keeps an instance registered, through outages and lost
//     sessions. The instance can be updated and drained.
//   - A [Registrar] does the same for frameworks that call Register and Deregister.
//   - A [Directory] has the instances of one service as of one transaction, and
//     reports changes. [NewServices] returns a directory of all services.
//   - A [Codec] is the format of a registry: [CuratorCodec], which also reads what
//     Spring and Dubbo write, [SpringCodec], [DubboCodec], [DubboInterfaceCodec],
//     [ServersetCodec], or your own.
//   - A [Picker] picks an instance for each request, from the instances that
//     [Picker.Update] receives. Its doc comment shows how a Picker follows a Directory.
//
// To find the instance that this process has registered, call
// [Registration.WaitRegistered], and then [Directory.WaitFor] with the Czxid of the
// node.
//
// # Shutting down without failed requests
//
// Before an instance leaves, call [Registration.Drain]: the node then says that the
// instance does not want to be picked. Clients pick other instances, and finish the
// requests they have begun. Then call Shutdown, which deletes the node. A directory
// drops a drained instance as soon as its node is deleted.
//
// # Outages
//
// A directory does not become empty during an outage, nor when the client may no
// longer read the path. The directory keeps its instances, and [Snapshot.Interrupted]
// says that they may be old. An instance whose node became unreadable stays
// unchanged, and [Snapshot.Bad] lists the node. An instance whose node was deleted
// stays for one more second (see [WithRemovalGrace]), because Java Curator deletes and
// re-creates its nodes after each interruption of its connection.
//
// # Observability
//
// Registrations and directories appear on the page of package debug/curatorz and in
// the metrics and spans of package tracing. To see the registrations of all processes,
// use inspect.WithServices or zklock services. A [Picker] with [WithDirectory] reports
// each instance that it ejects.
//
// [GUARANTEES.md] lists what users can rely on, and the limits.
//
// [GUARANTEES.md]: https://github.com/gocurator/curator/blob/main/docs/GUARANTEES.md
package discovery
