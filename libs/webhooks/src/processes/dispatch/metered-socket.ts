import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';

/** Bytes that a connection may receive beside twice its content: certificates, tickets, and a record that is not complete. */
const TLS_BYTES = 49_152;
/**
 * Bytes until a connection is made: those of four certificates with RSA of 4,096 bits and a hundred names. TLS verifies
 * every certificate that it is sent, trusted or not, in one piece: up to 5 ms for 420 bytes.
 */
const HANDSHAKE_BYTES = 12_288;
/** The type of records that make a connection, and in TLS 1.2 also ask to make it again (RFC 5246, 7.4.1.1). */
const HANDSHAKE = 22;

/** Bytes that are looked at before TLS takes the next: it works through all that it is given in one piece. */
const SLICE_BYTES = 4_096;
/** The header of a TLS record: its type, a version and its length (RFC 8446, 5.1). */
const HEADER_BYTES = 5;

/**
 * Begins TLS on a connection. It ends when too many records have no content, or ask to negotiate again: they cost time, up
 * to 90 µs for 33 bytes, and appear nowhere above TLS.
 * @param begin TLS on this stream @param tooMuch why the connection ends
 */
export const meteredTls = (
  socket: Socket,
  begin: (stream: Duplex) => TLSSocket,
  tooMuch: () => Error,
): TLSSocket => {
  let bytes = 0;
  let isMade = false;
  const stream = new MeteredSocket(socket, (more, records) => {
    bytes += more;
    const isAgain = isMade && tls.getProtocol() === 'TLSv1.2' && records.includes(HANDSHAKE);
    const most = isMade ? TLS_BYTES + 2 * tls.bytesRead : HANDSHAKE_BYTES;
    const isAdmitted = !isAgain && bytes <= most;
    if (!isAdmitted) tls.destroy(tooMuch());
    return isAdmitted;
  });
  const tls = begin(stream);
  return tls.once('secureConnect', () => (isMade = true));
};

/** A connection that shows what arrives before it goes on. */
class MeteredSocket extends Duplex {
  private header = Buffer.alloc(0);
  /** Bytes of the present record that have not arrived. */
  private left = 0;

  /** @param admits bytes, and the types of the records that begin in them; without it, they go no further */
  constructor(
    private readonly socket: Socket,
    private readonly admits: (bytes: number, records: readonly number[]) => boolean,
  ) {
    super();
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.once('end', () => this.push(null));
    socket.once('error', (error) => this.destroy(error));
    socket.once('close', () => this.destroy());
    // TLS closes what it is given, and cannot tell it that nobody waits for it.
    socket.unref();
  }

  private receive(chunk: Buffer): void {
    let wantsMore = true;
    for (let from = 0; from < chunk.length && !this.destroyed; from += SLICE_BYTES) {
      const slice = chunk.subarray(from, from + SLICE_BYTES);
      if (!this.admits(slice.length, this.recordsIn(slice))) return;
      wantsMore = this.push(slice);
    }
    if (!wantsMore) this.socket.pause();
  }

  private recordsIn(slice: Buffer): readonly number[] {
    const types: number[] = [];
    for (let at = 0; at < slice.length;) {
      const skipped = Math.min(this.left, slice.length - at);
      this.left -= skipped;
      at += skipped;
      const missing = slice.subarray(at, at + HEADER_BYTES - this.header.length);
      this.header = Buffer.concat([this.header, missing]);
      at += missing.length;
      if (this.header.length < HEADER_BYTES) continue;
      types.push(this.header[0]!);
      this.left = this.header.readUInt16BE(HEADER_BYTES - 2);
      this.header = Buffer.alloc(0);
    }
    return types;
  }

  override _read(): void {
    this.socket.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }
}
