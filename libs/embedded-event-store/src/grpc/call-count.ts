import { getChannelzHandlers, Server, type ServerOptions } from '@grpc/grpc-js';

interface ServerEntry {
  readonly ref: { readonly server_id: number };
  readonly data: {
    readonly calls_started: number;
    readonly calls_succeeded: number;
    readonly calls_failed: number;
  };
}

type Ask<Request, Answer> = (
  call: { readonly request: Request },
  respond: (error: unknown, answer?: Answer) => void,
) => void;

interface ServerHandlers {
  readonly GetServer: Ask<{ server_id: number }, { server: ServerEntry }>;
  readonly GetServers: Ask<
    { start_server_id: number; max_results: number },
    { server: readonly ServerEntry[]; end: boolean }
  >;
}

/** A grpc-js server with a count of its open calls. */
export interface CountedServer {
  readonly server: Server;
  /**
   * Started calls whose last byte has not yet been passed to the connection. A call stays open while its
   * caller does not read, even after its handler has ended, and occupies one stream of the connection.
   */
  readonly openCalls: () => number;
}

/** Counts calls with gRPC's own channelz service, whose handlers respond synchronously. */
export const countedServer = (options: ServerOptions): CountedServer => {
  const handlers = getChannelzHandlers() as unknown as ServerHandlers;
  const server = new Server(options);
  // Ids ascend, so the last one belongs to the server created above.
  let id = 0;
  for (let end = false; !end;) {
    handlers.GetServers({ request: { start_server_id: id + 1, max_results: 100 } }, (_error, answer) => {
      id = answer?.server.at(-1)?.ref.server_id ?? id;
      end = answer?.end ?? true;
    });
  }
  const openCalls = (): number => {
    let open = 0;
    handlers.GetServer({ request: { server_id: id } }, (_error, answer) => {
      if (!answer) return;
      const { calls_started: started, calls_succeeded: succeeded, calls_failed: failed } = answer.server.data;
      open = started - succeeded - failed;
    });
    return open;
  };
  return { server, openCalls };
};
