import { IncomingMessage, ServerResponse, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setGivesPersonalData } from '../audit/personal-data.js';
import { setInsider, type Insider } from '../auth/authentication.js';

export interface InsideCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path and query, as `/api/v1/readings?limit=20`. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The caller shows personal data together with the answer: the read is recorded as one of these. */
  readonly isPersonal?: boolean;
  /** Who calls. */
  readonly insider: Insider;
  /** The person's own connection: its address is for the audit record, the port for links. */
  readonly connection: Pick<Socket, 'remoteAddress' | 'localPort'>;
}

export interface InsideAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReturnType<ServerResponse['getHeaders']>;
  readonly body: Buffer;
}

/** Stands in for the connection: takes what the response writes. */
class Sink extends Duplex {
  readonly written: Buffer[] = [];

  override _read(): void {
    // Nothing arrives here: the request has its body already.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.written.push(chunk);
    done();
  }

  /** `ServerResponse` sets it on its connection. */
  setTimeout(): this {
    return this;
  }
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * Calls a route of this process without a connection, as somebody whom the process has verified. All guards, limits,
 * checks and records of the route apply as if the call had come from outside.
 */
export const insideCaller =
  (listener: RequestListener) =>
  ({
    method,
    path,
    headers = {},
    body = '',
    isPersonal,
    insider,
    connection,
  }: InsideCall): Promise<InsideAnswer> =>
    new Promise((resolve, reject) => {
      const sink = new Sink();
      const { remoteAddress, localPort } = connection;
      const socket = Object.assign(sink, { remoteAddress, localPort }) as unknown as Socket;
      const request = new IncomingMessage(socket);
      const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      // HTTP/1.0 knows no chunks: what follows the head is the body.
      Object.assign(request, {
        method,
        url: path,
        httpVersion: '1.0',
        httpVersionMajor: 1,
        httpVersionMinor: 0,
      });
      Object.assign(request.headers, { host: 'inside', ...length, ...headers });
      request.complete = true;
      setInsider(request, insider);
      if (isPersonal) setGivesPersonalData(request);
      const response = new ServerResponse(request);
      response.assignSocket(socket);
      response.once('finish', () => {
        const written = Buffer.concat(sink.written);
        response.detachSocket(socket);
        // The server does this for a connection; the audit record waits for it.
        response.emit('close');
        sink.destroy();
        resolve({
          status: response.statusCode,
          headers: response.getHeaders(),
          body: written.subarray(written.indexOf(END_OF_HEAD) + END_OF_HEAD.length),
        });
      });
      // The route gave up on its answer, as with a connection that it destroys.
      sink.once('close', () => reject(new Error('the route ended without an answer')));
      sink.once('error', reject);
      response.once('error', reject);
      request.push(body === '' ? null : body);
      if (body !== '') request.push(null);
      listener(request, response);
    });
