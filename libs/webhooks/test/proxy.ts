import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** An HTTP proxy that connects wherever a request says, and records it. */
export class Proxy {
  readonly asked: { readonly authority: string | undefined; readonly authorization: string | undefined }[] =
    [];
  /** Response sent instead of connecting. */
  refusal: string | null = null;
  private readonly sockets = new Set<Socket>();
  private constructor(private readonly server: Server) {}

  static async start(): Promise<Proxy> {
    const server = createServer();
    const proxy = new Proxy(server);
    server.on('connection', (socket: Socket) => proxy.sockets.add(socket));
    server.on('connect', (request, socket: Socket) => {
      const { host: _, 'proxy-authorization': authorization } = request.headers;
      proxy.asked.push({ authority: request.url, authorization });
      socket.on('error', () => undefined);
      if (proxy.refusal !== null) return void socket.write(proxy.refusal);
      const { hostname, port } = new URL(`http://${request.url}`);
      const onward = connect(Number(port), hostname.replace(/[[\]]/g, ''), () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        onward.pipe(socket).pipe(onward);
      });
      onward.on('error', () => socket.destroy());
      proxy.sockets.add(onward);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  url(login = ''): string {
    return `http://${login}127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
