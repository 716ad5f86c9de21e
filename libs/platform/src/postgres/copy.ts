import type pg from 'pg';

/** What `pg` calls on a query of its queue; its types do not describe the copy protocol. */
interface Connection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Uint8Array): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
  readonly stream: NodeJS.WritableStream & { readonly writableNeedDrain: boolean };
}

/** The longest time of a timer (ms): 24 days. */
const MAX_MS = 2 ** 31 - 1;

/** One `COPY` statement as a query of `pg`: resolves when the server has finished it. */
class Copy {
  readonly done: Promise<void>;
  private resolve!: () => void;
  private reject!: (error: Error) => void;
  private failure: Error | undefined;
  /** `pg` puts a function here that ends the client's time limit for a query. */
  callback?: () => void;

  /**
   * The client's time limit, where `pg` looks for it; `undefined`: that of the connection. What leaves takes as long as there
   * are rows, so only the server's limit applies, which a transaction can lift.
   */
  readonly query_timeout: number | undefined;

  constructor(
    private readonly text: string,
    private readonly rows: {
      readonly out?: (chunk: Buffer) => void;
      readonly in?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
    },
  ) {
    this.query_timeout = rows.out && MAX_MS;
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  submit(connection: Connection): void {
    connection.query(this.text);
  }

  /** The server sends rows on; a sink that has failed gets no more of them. */
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    if (this.failure) return;
    try {
      this.rows.out?.(chunk);
    } catch (error) {
      this.failure = error as Error;
    }
  }

  handleCopyInResponse(connection: Connection): void {
    void this.send(connection);
  }

  handleError(error: Error): void {
    this.failure ??= error;
    this.callback?.();
    this.reject(this.failure);
  }

  handleReadyForQuery(): void {
    this.callback?.();
    if (this.failure) this.reject(this.failure);
    else this.resolve();
  }

  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handlePortalSuspended(): void {}

  private async send(connection: Connection): Promise<void> {
    try {
      for await (const chunk of this.rows.in ?? []) {
        if (this.failure) return;
        connection.sendCopyFromChunk(chunk);
        if (connection.stream.writableNeedDrain)
          await new Promise<void>((resolve) => connection.stream.once('drain', resolve));
      }
      connection.endCopyFrom();
    } catch (error) {
      this.failure ??= error as Error;
      connection.sendCopyFail((error as Error).message);
    }
  }
}

const submit = (client: pg.ClientBase, copy: Copy): Promise<void> => {
  (client.query as unknown as (query: Copy) => void).call(client, copy);
  return copy.done;
};

/**
 * Runs `COPY … TO STDOUT` and passes its bytes to a synchronous sink.
 * @throws whatever the sink throws, after the server has finished
 */
export const copyOut = (client: pg.ClientBase, text: string, sink: (chunk: Buffer) => void): Promise<void> =>
  submit(client, new Copy(text, { out: sink }));

/** Runs `COPY … FROM STDIN` with these bytes. When reading them fails, the statement fails and nothing is stored. */
export const copyIn = (
  client: pg.ClientBase,
  text: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> => submit(client, new Copy(text, { in: bytes }));
